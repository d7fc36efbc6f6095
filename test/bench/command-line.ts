/** The options of this process; one that gets wrong ones says what is wrong, and how it is used, and ends with 1. */
export function readCommandLine<Options>(parse: (args: readonly string[]) => Options, usage: string): Options {
  try {
    return parse(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(1);
  }
}
