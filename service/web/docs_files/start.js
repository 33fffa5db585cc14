"use strict";
// Reads the description from this service alone. Only GET can be tried: a click must not begin a debate that is billed.
addEventListener("DOMContentLoaded", async () => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
  const address = new URL(document.body.dataset.description, location.href);
  const spec = await (await fetch(address)).json();
  delete spec.jsonSchemaDialect; // it names plain JSON Schema, and the page would warn of everything but its own name
  const base = new URL(".", address).pathname; // a proxy may have put all paths below a prefix
  spec.servers = base === "/" ? [] : [{ url: base }];
  SwaggerUIBundle({
    spec,
    dom_id: "#described",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    docExpansion: "list",
    layout: "BaseLayout",
    presets: [SwaggerUIBundle.presets.apis],
    queryConfigEnabled: false,
    supportedSubmitMethods: ["get"],
    validatorUrl: null,
  });
});
