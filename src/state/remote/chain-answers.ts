/** Answers about the upstream's chain up to the fork point, which never change once the fork point is fixed. */
import type { z } from 'zod'
import { NodeError } from '../../errors.ts'
import type { RpcCall } from '../../upstream/replies.ts'
import type { Asker } from './asker.ts'
import type { BlockCache } from './cache/block-cache.ts'
import { readAnswer, wrongAnswer } from './wire.ts'

/** Asks for parts of the chain, through the cache of the fork point. */
export class ChainAnswers {
  readonly #asker: Asker
  readonly #cache: BlockCache

  /** The cache is that of the fork point: it fixes all blocks below it. */
  constructor(asker: Asker, cache: BlockCache) {
    this.#asker = asker
    this.#cache = cache
  }

  /**
   * The results of calls. Where the upstream refuses a method that not every node serves, the result is `null`; for any other
   * refusal it throws `upstream`.
   */
  async ask(calls: readonly RpcCall[], what: string): Promise<unknown[]> {
    const outcomes = await this.#asker.sendCached(calls, this.#cache, what)
    return calls.map(({ method }, index) => {
      const outcome = outcomes[index]
      if (outcome !== undefined && 'result' in outcome) return outcome.result
      const isOptional = method.startsWith('rsk_') || method === 'eth_getBlockReceipts'
      if (isOptional && outcome !== undefined) return null
      throw new NodeError(
        'upstream',
        `The upstream ${this.origin()} refused ${method}: ${outcome?.error.message}`,
      )
    })
  }

  /** The result of `method` as the schema has it. Throws `upstream`. */
  read<T>(schema: z.ZodType<T>, result: unknown, method: string): T {
    return readAnswer(schema, result, method, this.origin())
  }

  /** The error for an answer that contradicts another one, or what was asked for. */
  wrong(what: string): NodeError {
    return wrongAnswer(this.origin(), what)
  }

  /** Of the upstream, for messages. */
  origin(): string {
    return this.#asker.origin()
  }
}
