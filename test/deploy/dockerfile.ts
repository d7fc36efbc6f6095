import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Copy,
  DockerfileParser,
  Env,
  From,
  type Instruction,
  JSONInstruction,
  ModifiableInstruction,
} from 'dockerfile-ast';
import { ROOT } from '../support/process.ts';

/** What a Dockerfile says, as far as ours needs it said. */
export type Step =
  | {
      readonly kind: 'copy';
      readonly from: string | undefined;
      readonly sources: readonly string[];
      readonly to: string;
    }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'env'; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'workdir'; readonly path: string }
  | { readonly kind: 'user'; readonly user: string }
  | { readonly kind: 'expose'; readonly ports: readonly number[] }
  | { readonly kind: 'entrypoint'; readonly words: readonly string[] }
  | { readonly kind: 'cmd'; readonly words: readonly string[] };

export interface Stage {
  readonly name: string | undefined;
  /** An image, or the name of an earlier stage. */
  readonly from: string;
  readonly steps: readonly Step[];
}

export const DOCKERFILE = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8');

/** The stages of a Dockerfile in their order. Throws at an instruction, a flag or a form that none of ours has. */
export function stagesOf(text: string): Stage[] {
  const stages: (Stage & { steps: Step[] })[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction instanceof From) {
      const from = instruction.getImage() ?? '';
      stages.push({ name: instruction.getBuildStage() ?? undefined, from, steps: [] });
    } else {
      stages.at(-1)?.steps.push(stepOf(instruction));
    }
  }
  return stages;
}

function stepOf(instruction: Instruction): Step {
  const raw = instruction.getArgumentsContent() ?? '';
  const words = instruction.getArguments().map((argument) => argument.getValue());
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
  if (flags.some((flag) => !(instruction instanceof Copy && flag.getName() === 'from')))
    throw notUnderstood(instruction);
  if (instruction instanceof Copy) {
    const from = instruction.getFromFlag()?.getValue() ?? undefined;
    return { kind: 'copy', from, sources: words.slice(0, -1), to: words.at(-1) ?? '' };
  }
  if (instruction instanceof Env) {
    const pairs = instruction.getProperties().map((property) => [property.getName(), property.getValue() ?? '']);
    return { kind: 'env', env: Object.fromEntries(pairs) };
  }
  switch (instruction.getKeyword()) {
    case 'RUN':
      if (raw.startsWith('[')) throw notUnderstood(instruction);
      return { kind: 'run', command: raw };
    case 'WORKDIR':
      return { kind: 'workdir', path: raw };
    case 'USER':
      return { kind: 'user', user: raw };
    case 'EXPOSE':
      return { kind: 'expose', ports: words.map(Number) };
    case 'ENTRYPOINT':
      return { kind: 'entrypoint', words: wordsOf(instruction) };
    case 'CMD':
      return { kind: 'cmd', words: wordsOf(instruction) };
  }
  throw notUnderstood(instruction);
}

/** Of the form that starts a program by itself; the other one would put a shell in between. */
function wordsOf(instruction: Instruction): string[] {
  if (!(instruction instanceof JSONInstruction && instruction.getOpeningBracket())) throw notUnderstood(instruction);
  return instruction.getJSONStrings().map((string) => string.getJSONValue());
}

function notUnderstood(instruction: Instruction): Error {
  return new Error(`Nothing here understands ${instruction.toString()}`);
}

/** The stage that becomes the image. */
export function lastOf(stages: readonly Stage[]): Stage {
  const last = stages.at(-1);
  if (!last) throw new Error('There is no stage.');
  return last;
}

/** The steps of one kind, in their order. */
export function stepsOf<Kind extends Step['kind']>({ steps }: Stage, kind: Kind): Extract<Step, { kind: Kind }>[] {
  return steps.filter((step): step is Extract<Step, { kind: Kind }> => step.kind === kind);
}
