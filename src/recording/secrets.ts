/** What recordings have in place of passwords and keys: the same name for the same secret, from which it cannot be guessed. */
import { invalidParams } from '../errors.ts'
import { isObject } from '../rpc/envelope.ts'
import type { AnyMethod } from '../rpc/method.ts'
import { methodsByName } from '../rpc/method-table.ts'

/** Methods whose result is a key. */
const KEY_RESULTS: ReadonlySet<string> = new Set(['personal_dumpRawKey'])
/** Members of parameters that hold URLs of upstreams, with keys in them. */
const URL_MEMBERS: ReadonlySet<string> = new Set(['jsonRpcUrl'])
/** Methods whose first parameter is such a URL. */
const URL_METHODS: ReadonlySet<string> = new Set(['anvil_setRpcUrl', 'hardhat_setRpcUrl'])

/** The name of a secret in a recording. */
export const SECRET_NAME = /^<secret \d+>$/

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
    if (Array.isArray(message)) {
      const masked = message.map((entry) => this.request(entry))
      return masked.some((entry, i) => entry !== message[i]) ? masked : message
    }
    if (!isObject(message) || typeof message.method !== 'string') return message
    const params = this.#params(message.method, message.params)
    return params === message.params ? message : { ...message, params }
  }

  /** Does the reply to this message hold a key? */
  hasSecretReply(message: unknown): boolean {
    if (Array.isArray(message)) return message.some((entry) => this.hasSecretReply(entry))
    return isObject(message) && typeof message.method === 'string' && KEY_RESULTS.has(message.method)
  }

  /** The reply to a message that has a secret reply: results are named. */
  reply(reply: unknown): unknown {
    if (Array.isArray(reply)) return reply.map((entry) => this.reply(entry))
    if (!isObject(reply) || !('result' in reply)) return reply
    return { ...reply, result: this.#name(reply.result) }
  }

  #params(name: string, params: unknown): unknown {
    if (!Array.isArray(params)) return params
    const declared = this.#methods.get(name)?.params ?? []
    const masked = params.map((value, i) => {
      const isSecret = declared[i]?.parameter.secret === true || (i === 0 && URL_METHODS.has(name))
      return isSecret && value !== null && value !== undefined ? this.#name(value) : this.#withoutUrls(value)
    })
    return masked.some((value, i) => value !== params[i]) ? masked : params
  }

  #withoutUrls(value: unknown): unknown {
    if (!isObject(value)) return value
    const entries = Object.entries(value).map(([key, member]) => [
      key,
      URL_MEMBERS.has(key) && typeof member === 'string' ? this.#name(member) : this.#withoutUrls(member),
    ])
    const isChanged = entries.some(([key, member]) => member !== value[key as string])
    return isChanged ? Object.fromEntries(entries) : value
  }

  #name(secret: unknown): string {
    const key = typeof secret === 'string' ? secret : JSON.stringify(secret)
    if (key === undefined) throw invalidParams('a secret is no JSON')
    const name = this.#names.get(key) ?? `<secret ${this.#names.size + 1}>`
    this.#names.set(key, name)
    return name
  }
}
