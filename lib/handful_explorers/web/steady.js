// A block under a plot that keeps its height while numbers within it change, so that a frame lays out
// the block and not the page. On paper it is as high as what it holds.
export class Steady {
  /** @param {HTMLElement} node */
  constructor(node) {
    this.node = node;
    this.width = 0; // at which its height was taken
    // Asked after a layout that comes anyway, not in the middle of a frame.
    this.watcher = new ResizeObserver(() => this.take());
    this.watcher.observe(node);
  }

  take() {
    const { node } = this,
      width = node.clientWidth;
    if (!width || width === this.width) return;
    if (this.width) {
      requestAnimationFrame(() => this.free());
      return;
    }
    this.width = width;
    node.style.setProperty("--steady", `${node.offsetHeight}px`);
    node.classList.add("is-steady");
  }

  // Its height is taken anew after the next layout.
  free() {
    this.width = 0;
    this.node.classList.remove("is-steady");
    this.watcher.unobserve(this.node);
    this.watcher.observe(this.node);
  }

  // When the hand rests: what has outgrown its block gets a higher one.
  check() {
    const { node } = this;
    if (this.width && node.scrollHeight > node.clientHeight + 2) this.free();
  }

  destroy() {
    this.watcher.disconnect();
  }
}
