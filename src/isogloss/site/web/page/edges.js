// Where a table continues beyond an edge of its frame: the style sheet fades that edge.

// On narrow screens the sorted column stays in sight at the edge, over the columns that go on.
/** @param {Element} frame */
function isPinned(frame) {
  const head = frame.querySelector("th.sorted");
  if (!head || getComputedStyle(head).position !== "sticky") return false;
  return Math.abs(head.getBoundingClientRect().right - frame.getBoundingClientRect().right) < 2;
}

/** @param {Element} frame */
function markEdges(frame) {
  const { scrollLeft, scrollWidth, clientWidth, scrollTop, scrollHeight, clientHeight } = frame;
  const before = Math.abs(scrollLeft);
  const goesOn = scrollWidth - clientWidth - before > 1;
  const isBelow = scrollHeight - clientHeight - scrollTop > 1;
  const words = [before > 1 && "start", goesOn && "end", isBelow && "below", goesOn && isPinned(frame) && "pinned"];
  const more = words.filter(Boolean).join(" ");
  if ((frame.dataset.more ?? "") !== more) frame.dataset.more = more;
}

// Return a function that marks the edges of all frames; scrolling and changes of size mark them again.
/** @param {HTMLElement} main */
export function watchEdges(main) {
  const frames = () => main.querySelectorAll(".scroll");
  const observer = new ResizeObserver(() => frames().forEach(markEdges));
  document.addEventListener(
    "scroll",
    ({ target }) => {
      if (target instanceof Element && target.classList.contains("scroll")) markEdges(target);
    },
    { capture: true, passive: true },
  );
  // The observer reports each new node once it is laid out.
  return () => {
    for (const frame of frames()) {
      observer.observe(frame);
      if (frame.firstElementChild) observer.observe(frame.firstElementChild);
    }
  };
}
