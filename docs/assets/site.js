/* Names that the theme leaves out, for screen readers; tables that scroll can be reached by keyboard. */
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  const name = () => {
    document.querySelectorAll(".md-code__nav").forEach((nav, n) => nav.setAttribute("aria-label", `Code ${n + 1}`));
    document.querySelectorAll(".md-typeset__scrollwrap").forEach(box => box.setAttribute("tabindex", "0"));
  };
  name();
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
});
