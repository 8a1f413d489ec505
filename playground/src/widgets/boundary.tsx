/**
 * Shows the error when the page itself fails. No input should cause such an error, but the page must never be empty.
 */

import { Component, type ComponentChild, type ComponentChildren } from "preact";

interface BoundaryProps {
  readonly children: ComponentChildren;
}

export class Boundary extends Component<BoundaryProps, { readonly error: string | null }> {
  override state = { error: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ error: String(error) });
  }

  override render(): ComponentChild {
    if (this.state.error === null) return this.props.children;
    return (
      <main class="failed">
        <h1>An unexpected error</h1>
        <p>The page cannot show this call: {this.state.error}</p>
        <p>
          <a href="./">Start over</a> with the first example; the address still holds what was
          entered.
        </p>
      </main>
    );
  }
}
