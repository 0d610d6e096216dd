import { type Refusal, refuse } from '../refusal.ts';

/** The largest value, in bytes. */
export const largestSecretBytes = 64 * 1024;

/** What a sealed box adds to a value: an ephemeral public key and a tag. */
const boxOverheadBytes = 48;

/** All boxes of one secret together, as characters: a fact must stay of a size that every process can hold. */
const mostBoxCharacters = 4 * 1024 * 1024;

/** Most secrets that stay on one node. */
const mostNodeSecrets = 1000;

/** As strict as the protocols that carry boxes: what one of them could not carry must not get into the log. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const publicKeyLength = 44;

/** Names become parts of paths on nodes; `HF_TOKEN` is one, as `--secret HF_TOKEN` names variable and secret at once. */
export function checkSecretName(name: string, path: string): Refusal | null {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name)) return null;
  const shown = name.length > 60 ? `${name.slice(0, 57)}…` : name;
  return refuse('BAD_NAME', `${path} is ${JSON.stringify(shown)}; expected 1 to 64 letters, digits, "_", "-" and "."`, {
    path,
    hint: 'such as hf-token or HF_TOKEN',
  });
}

/**
 * A variable that gets a secret: shells must be able to export it, since a value must never stand among the arguments
 * of a program, not even of `env`.
 */
export function checkSecretVariable(variable: string, secret: string): Refusal | null {
  const path = `job.env.${variable}`;
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) return checkSecretName(secret, path);
  return refuse('BAD_ENV_KEY', `${JSON.stringify(variable)} cannot be the name of a variable that holds a secret`, {
    path,
    hint: 'use letters, digits and "_", such as HF_TOKEN',
  });
}

/** Sealed boxes as they come from outside: whoever sealed them also chose the keys. */
export function checkBoxes(boxes: Readonly<Record<string, string>>): Refusal | null {
  const largest = Math.ceil(((largestSecretBytes + boxOverheadBytes) * 4) / 3);
  let characters = 0;
  for (const [key, box] of Object.entries(boxes)) {
    const wrong = checkPublicKey(key, 'boxes');
    if (wrong !== null) return wrong;
    if (!base64.test(box)) return refuse('BAD_VALUE', 'a sealed box is no base64 text', { path: 'boxes' });
    if (box.length > largest) return tooLarge(`its value is larger than ${largestSecretBytes} bytes`);
    characters += box.length;
  }
  if (characters <= mostBoxCharacters) return null;
  return tooLarge(`sealed to ${Object.keys(boxes).length} nodes it is larger than 4 MiB`);
}

export function checkPublicKey(key: string, path: string): Refusal | null {
  if (key.length === publicKeyLength && base64.test(key)) return null;
  return refuse('BAD_VALUE', `a public key in ${path} is not ${publicKeyLength} characters of base64`, { path });
}

/** The names of what stays on a node, as its agent tells them. */
export function checkNodeSecrets(names: readonly string[]): Refusal | null {
  if (names.length > mostNodeSecrets) {
    return refuse('RANGE', `the node keeps ${names.length} secrets; at most ${mostNodeSecrets} fit`, {
      path: 'secrets',
    });
  }
  for (const name of names) {
    const wrong = checkSecretName(name, 'secrets');
    if (wrong !== null) return wrong;
  }
  return null;
}

function tooLarge(what: string): Refusal {
  return refuse('TOO_LARGE', `the secret is too large: ${what}`, {
    hint: 'put large files into the workspace or onto the nodes, and keep their key as the secret',
  });
}
