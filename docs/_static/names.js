// Names for screen readers that the theme leaves out, or that differ from what is seen.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button.search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim() || "Search");
  }
  for (const box of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = box.querySelector(".sphx-glr-thumbnail-title")?.textContent.trim();
    for (const link of box.querySelectorAll("a")) if (title) link.setAttribute("aria-label", title);
  }
  for (const summary of document.querySelectorAll("summary")) {
    if (summary.textContent.trim() || summary.hasAttribute("aria-label")) continue;
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this one"}`);
  }
});
