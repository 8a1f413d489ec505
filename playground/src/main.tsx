import { render } from "preact";
import { unpack } from "./document/packed.ts";
import { App } from "./page/app.tsx";
import { Boundary } from "./widgets/boundary.tsx";
import { applyWidth } from "./stage/use-room.ts";
import { applyTheme } from "./widgets/theme.tsx";

function start(): void {
  const page = document.getElementById("page");
  if (page === null) return;
  page.textContent = "";
  render(
    <Boundary>
      <App />
    </Boundary>,
    page,
  );
}

applyTheme();
applyWidth();
const ready = unpack(location.hash);
if (ready === null) start();
else void ready.then(start);
