/** What recordings have in place of passwords and keys: the same name for the same secret, from which it cannot be guessed. */
import { isObject } from '../encoding/json-object.ts'
import { invalidParams } from '../errors.ts'
import type { AnyMethod } from '../rpc/method.ts'
import { methodsByName } from '../rpc/method-table.ts'
import type { Secret } from '../rpc/parameter.ts'

/** The name of a secret in a recording. */
export const SECRET_NAME = /^<secret (\d+)>$/

/** Puts another value in the place of a secret. */
export type Replace = (secret: unknown, kind: Extract<Secret, string>) => unknown

function replaced(value: unknown, secret: Secret | undefined, replace: Replace): unknown {
  if (secret === undefined || value === null || value === undefined) return value
  if (typeof secret === 'string') return replace(value, secret)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    replaced(member, Object.hasOwn(secret, key) ? secret[key] : undefined, replace),
  ])
  return entries.some(([key, member]) => member !== value[key as string])
    ? Object.fromEntries(entries)
    : value
}

/** A message with other values in the place of its secrets, as its methods declare them: the same object where it has none. */
export function withSecrets(
  methods: ReadonlyMap<string, AnyMethod>,
  message: unknown,
  replace: Replace,
): unknown {
  if (Array.isArray(message)) {
    const entries = message.map((entry) => withSecrets(methods, entry, replace))
    return entries.some((entry, i) => entry !== message[i]) ? entries : message
  }
  if (!isObject(message) || typeof message.method !== 'string' || !Array.isArray(message.params)) {
    return message
  }
  const given: readonly unknown[] = message.params
  const declared = methods.get(message.method)?.params ?? []
  const params = given.map((value, i) => replaced(value, declared[i]?.parameter.secret, replace))
  return params.some((value, i) => value !== given[i]) ? { ...message, params } : message
}

/** Puts names in the place of secrets. */
export class SecretMask {
  readonly #methods: ReadonlyMap<string, AnyMethod>
  readonly #names = new Map<string, string>()

  /** @param methods all that the node knows, open or not */
  constructor(methods: readonly AnyMethod[]) {
    this.#methods = methodsByName(methods)
  }

  /** A message without its secrets: the same object where it has none. */
  request(message: unknown): unknown {
    return withSecrets(this.#methods, message, (secret) => this.#name(secret))
  }

  /** Does the reply to this message hold a key? */
  hasSecretReply(message: unknown): boolean {
    if (Array.isArray(message)) return message.some((entry) => this.hasSecretReply(entry))
    if (!isObject(message) || typeof message.method !== 'string') return false
    return this.#methods.get(message.method)?.hasSecretResult === true
  }

  /** The reply to a message that has a secret reply: results are named. */
  reply(reply: unknown): unknown {
    if (Array.isArray(reply)) return reply.map((entry) => this.reply(entry))
    if (!isObject(reply) || !('result' in reply)) return reply
    return { ...reply, result: this.#name(reply.result) }
  }

  #name(secret: unknown): string {
    const key = typeof secret === 'string' ? secret : JSON.stringify(secret)
    if (key === undefined) throw invalidParams('a secret is no JSON')
    const name = this.#names.get(key) ?? `<secret ${this.#names.size + 1}>`
    this.#names.set(key, name)
    return name
  }
}
