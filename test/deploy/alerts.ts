import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/process.ts';

/** A rule of `deploy/alerts.yaml`. */
interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ALERT_FILE = join(ROOT, 'deploy/alerts.yaml');

const { groups, ...rest } = parse(readFileSync(ALERT_FILE, 'utf8'));

/** What the file has beside its groups, and a group beside its rules: nothing but a name. */
export const AROUND: readonly object[] = [rest, ...groups.map(({ rules: _, ...group }: { rules: unknown }) => group)];

export const ALERTS: readonly Alert[] = groups.flatMap(({ rules }: { rules: readonly Alert[] }) => rules);
