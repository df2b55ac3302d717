/** How the page of a flame graph looks. */
export const flameStyle = `
:root { color-scheme: light dark; --line: #8886; --soft: #888; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
p { margin: 0.25rem 0 1rem; color: var(--soft); overflow-wrap: anywhere; }
#ticks { position: relative; height: 1.4rem; border-bottom: 1px solid var(--line); }
#ticks span { position: absolute; padding-left: 3px; border-left: 1px solid var(--line); color: var(--soft); font-size: 12px; white-space: nowrap; }
#ticks span:last-child { border-left: 0; border-right: 1px solid var(--line); padding: 0 3px 0 0; transform: translateX(-100%); }
#graph { position: relative; overflow: hidden; }
.box { position: absolute; height: 20px; min-width: 1px; box-sizing: border-box; padding: 0 4px; border: 0; border-right: 1px solid Canvas; border-bottom: 1px solid Canvas; border-radius: 3px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font: 12px/19px system-ui, sans-serif; text-align: left; color: #111; cursor: pointer; }
.box:hover, .box:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; }
.failed { box-shadow: inset 0 0 0 2px #c22; }
.recalled { opacity: 0.55; }
.open { border-style: dashed; }
#about { min-height: 3em; margin: 0.75rem 0 1.5rem; white-space: pre-line; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
`;

/** Makes a click on a box look at it closely, and another click on the widest one, or Escape, look at everything again. */
export const flameScript = `
const graph = document.getElementById("graph");
const ticks = document.getElementById("ticks");
const about = document.getElementById("about");
const boxes = [...graph.querySelectorAll(".box")];
const total = Number(graph.dataset.total);
const hint = about.textContent;
function show(ms) {
  if (ms < 1) return Number(ms.toFixed(2)) + " ms";
  if (ms < 1000) return Number(ms.toFixed(ms < 10 ? 1 : 0)) + " ms";
  return ms < 60000 ? Number((ms / 1000).toFixed(1)) + " s" : Number((ms / 60000).toFixed(1)) + " min";
}
function look(start, length) {
  for (const box of boxes) {
    const from = Number(box.dataset.start), width = Number(box.dataset.length);
    const left = Math.max(from, start), right = Math.min(from + width, start + length);
    box.hidden = right < left || (right === left && width > 0);
    box.style.left = ((left - start) / length) * 100 + "%";
    box.style.width = ((right - left) / length) * 100 + "%";
  }
  [...ticks.children].forEach((tick, index, all) => {
    tick.textContent = show(start + (length * index) / (all.length - 1));
  });
}
let seen = 0 + "," + total;
function toggle(start, length) {
  const next = seen === start + "," + length || length <= 0 ? [0, total] : [start, length];
  seen = next.join();
  look(...next);
}
graph.addEventListener("click", ({ target }) => {
  const box = target.closest(".box");
  if (box) toggle(Number(box.dataset.start), Number(box.dataset.length));
});
document.addEventListener("keydown", ({ key }) => { if (key === "Escape") { seen = ""; toggle(0, total); } });
for (const type of ["mouseover", "focusin"]) {
  graph.addEventListener(type, ({ target }) => { about.textContent = target.closest(".box")?.title ?? hint; });
}
`;
