/** The time in which a count loses half of its value, in ms. */
const HALF_LIFE_MS = 60_000;

/** How often something was used of late: each use counts 1, and half as much with each minute that has passed since. */
export class UseCount {
  #value = 0;
  #at = performance.now();

  value(): number {
    return this.#value * 0.5 ** ((performance.now() - this.#at) / HALF_LIFE_MS);
  }

  add(): void {
    this.#value = this.value() + 1;
    this.#at = performance.now();
  }
}
