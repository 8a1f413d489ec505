"""A stand-in of JAX on NumPy, with what the page's programs use, as JAX's documents describe it."""


class _Config:
    is_wide = False

    def update(self, name, value):
        """https://docs.jax.dev/en/latest/default_dtypes.html: arrays have 64 bits only with this option."""
        if name != "jax_enable_x64":
            raise KeyError(name)
        self.is_wide = value


config = _Config()
