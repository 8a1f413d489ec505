import { render } from "preact";
import { App } from "./ui/app.tsx";
import { Boundary } from "./ui/boundary.tsx";
import { applyWidth } from "./ui/room.ts";
import { applyTheme } from "./ui/theme.tsx";

applyTheme();
applyWidth();
const page = document.getElementById("page");
if (page !== null) {
  page.textContent = "";
  render(
    <Boundary>
      <App />
    </Boundary>,
    page,
  );
}
