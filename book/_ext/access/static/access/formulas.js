/* Lets the keyboard scroll formulas that are wider than their column, and only those. */
(() => {
  const update = () => {
    for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    }
  };
  MathJax.startup.promise.then(() => {
    update();
    addEventListener("resize", update);
    // The fonts arrive last and change every width.
    document.fonts.ready.then(update);
  });
})();
