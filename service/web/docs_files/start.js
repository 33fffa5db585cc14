"use strict";
// Reads the description from this service alone. Only GET can be tried: a click must not begin a debate that is billed.
addEventListener("DOMContentLoaded", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
  SwaggerUIBundle({
    url: document.body.dataset.description,
    dom_id: "#operations",
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
