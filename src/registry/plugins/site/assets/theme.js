// Light, dark, or what the system asks for: chosen by a button, remembered where storage is allowed.
"use strict";
(() => {
  const themes = ["system", "light", "dark"];
  const root = document.documentElement;

  const remembered = () => {
    try {
      const theme = localStorage.getItem("registry-theme");
      return themes.includes(theme) ? theme : "system";
    } catch {
      return "system"; // no storage, as in a page of a sandbox
    }
  };

  const remember = (theme) => {
    try {
      localStorage.setItem("registry-theme", theme);
    } catch {
      // it counts for this page only
    }
  };

  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };

  root.classList.add("scripted"); // shows what needs a script, before anything is drawn
  let theme = remembered();
  show(theme);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => (button.textContent = `Theme: ${theme}`);
    label();
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      remember(theme);
      show(theme);
      label();
    });
  });
})();
