/** Says where a contender answers, as one line of JSON. */
export function ready(url: string): void {
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
