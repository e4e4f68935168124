import type { LogWalks } from '../../src/engine/queries/log-walk.ts'
import type { TokenQueries } from '../../src/engine/queries/tokens.ts'

/** The answers of a chain without logs and tokens. */
export const NO_TOKENS: TokenQueries & LogWalks = {
  async *walkLogs() {},
  async *tokenTransfers() {},
  token: async () => undefined,
  tokens: async () => [],
  tokenHolders: async () => undefined,
  tokenBalance: async () => undefined,
}
