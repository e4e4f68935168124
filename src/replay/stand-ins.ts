/** What a replay sends in the place of the secrets that a recording has names of. */
import { keccak256 } from '../encoding/hash.ts'
import { toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { SECRET_NAME, withSecrets } from '../recording/secrets.ts'
import { methodsByName } from '../rpc/method-table.ts'
import { METHODS } from '../rpc/methods/index.ts'
import type { Secret } from '../rpc/parameter.ts'

const BY_NAME = methodsByName(METHODS)

/** Secrets by their numbers. */
export class StandIns {
  readonly #given: ReadonlyMap<number, string>

  /** @param given the values of secrets, by the number in their name */
  constructor(given: ReadonlyMap<number, string> = new Map()) {
    this.#given = given
  }

  /**
   * A request with the given values of its secrets. A key that was not given is made of its name, which also serves as a
   * password. Throws `invalid-options` for an upstream that was not given.
   */
  fill(request: unknown): unknown {
    return withSecrets(BY_NAME, request, (secret, kind) => this.#valueOf(secret, kind))
  }

  #valueOf(name: unknown, kind: Extract<Secret, string>): unknown {
    const [, digits] = typeof name === 'string' ? (SECRET_NAME.exec(name) ?? []) : []
    if (typeof name !== 'string' || digits === undefined) return name
    const given = this.#given.get(Number(digits))
    if (given !== undefined) return given
    if (kind === 'key') return toHex(keccak256(new TextEncoder().encode(name)))
    if (kind === 'text') return name
    throw new NodeError(
      'invalid-options',
      `The recording has no URL of the upstream ${name}: give it again (--secret ${digits}=<url>).`,
    )
  }
}
