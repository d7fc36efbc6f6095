/** Who is signed in. The browser forgets it with the tab. */

export interface Session {
  /** What the page calls the person. */
  readonly name: string;
  /** Proves to the desk's gateway who asks. */
  readonly token: string;
}

const KEY = 'session';

/** Signs somebody in, and remembers it for this tab. Gives undefined if the server of the page gives no session. */
export async function signIn(person: string, name: string): Promise<Session | undefined> {
  const response = await fetch(`/sign-in/${person}`, { method: 'POST' }).catch(() => undefined);
  if (!response?.ok) return undefined;
  const session = { name, token: await response.text() };
  sessionStorage.setItem(KEY, JSON.stringify(session));
  return session;
}

export function storedSession(): Session | undefined {
  const text = sessionStorage.getItem(KEY);
  return text === null ? undefined : JSON.parse(text);
}

export function endSession(): void {
  sessionStorage.removeItem(KEY);
}
