import { render } from "preact";
import { App } from "./page/app.tsx";
import { Boundary } from "./widgets/boundary.tsx";
import { applyWidth } from "./stage/use-room.ts";
import { applyTheme } from "./widgets/theme.tsx";

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
