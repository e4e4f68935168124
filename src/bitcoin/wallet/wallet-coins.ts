/** What a wallet owns: its coins in blocks and in the mempool. */
import { type Coin, isUnspendable, outputKey, outputOf, scriptKey } from '../chain/coin.ts'
import { MATURITY } from '../chain/regtest.ts'
import { bestBlock, type ChainState } from '../chain/state.ts'
import { type Wallet, type WalletScript, type WalletState, walletKey, walletScripts } from './model.ts'

/** A coin of a wallet that nothing spends, the mempool neither. */
export interface WalletCoin {
  readonly id: string
  readonly index: number
  readonly coin: Coin
  readonly owner: WalletScript
  /** 0 in the mempool. */
  readonly confirmations: number
  /** Can the wallet spend it? A reward from one block later on than the mempool takes it, as in Bitcoin Core. */
  readonly isMature: boolean
  /** Confirmed, or made by the wallet's own transaction. */
  readonly isTrusted: boolean
}

function confirmedCoins(chain: ChainState, owner: WalletScript): WalletCoin[] {
  const height = bestBlock(chain).height
  const prefix = scriptKey(owner.script)
  return [...chain.coinsOfScripts.entries(prefix)].flatMap(([key]) => {
    const output = key.slice(prefix.length)
    const coin = chain.coins.get(output)
    if (coin === undefined || chain.spenders.has(output)) return []
    const confirmations = height - coin.height + 1
    const isMature = !coin.isCoinbase || confirmations > MATURITY
    return [{ ...outputOf(output), coin, owner, confirmations, isMature, isTrusted: true }]
  })
}

function mempoolCoins(chain: ChainState, state: WalletState, wallet: Wallet): WalletCoin[] {
  const prefix = walletKey(wallet.name)
  const height = bestBlock(chain).height + 1
  return [...chain.mempool.values()].flatMap(({ id, transaction }) =>
    transaction.outputs.flatMap((output, index) => {
      const owner = state.scripts.get(prefix + scriptKey(output.script))
      if (owner === undefined || isUnspendable(output) || chain.spenders.has(outputKey(id, index))) return []
      const coin = { ...output, height, isCoinbase: false }
      return [{ id, index, coin, owner, confirmations: 0, isMature: true, isTrusted: owner.isChange }]
    }),
  )
}

/** All coins of a wallet, those that it only watches too. */
export function walletCoins(chain: ChainState, state: WalletState, wallet: Wallet): readonly WalletCoin[] {
  const confirmed = [...walletScripts(state, wallet)].flatMap((owner) => confirmedCoins(chain, owner))
  return [...confirmed, ...mempoolCoins(chain, state, wallet)]
}

/** Satoshi of coins, as `getbalances` divides them. */
export interface Balances {
  readonly trusted: bigint
  readonly pending: bigint
  readonly immature: bigint
}

/** The balances of coins. */
export function balancesOf(coins: readonly WalletCoin[]): Balances {
  const sum = (chosen: readonly WalletCoin[]) => chosen.reduce((all, { coin }) => all + coin.value, 0n)
  return {
    trusted: sum(coins.filter(({ isMature, isTrusted }) => isMature && isTrusted)),
    pending: sum(coins.filter(({ isTrusted }) => !isTrusted)),
    immature: sum(coins.filter(({ isMature }) => !isMature)),
  }
}
