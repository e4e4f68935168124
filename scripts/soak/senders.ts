/**
 * The load of a soak: each sender signs in the order of its nonces and repeats a transaction until it is acknowledged.
 * Load generators such as autocannon measure requests only; here every answer goes into the ledger that the audit checks.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { getCreateAddress, HDNodeWallet, keccak256, Mnemonic } from 'ethers'
import { type BatchCaller, type Caller, Unreachable } from './client.ts'
import { type Entry, Ledger } from './ledger.ts'
import type { Random } from './random.ts'
import type { Run, Target } from './target.ts'
import { creationCode, transferData } from './token.ts'

/** Words that the node derives its accounts from, and we the same. */
export const MNEMONIC = 'test test test test test test test test test test test junk'
/** Who moves coins, and who moves tokens; the first account makes the token. */
const COINS = 4
const TOKENS = 3
/** Accounts that the node has to hold coins for. */
export const ACCOUNTS = 1 + COINS + TOKENS

/** Somebody who only receives. */
const SINK = `0x${'e1'.repeat(20)}`

const CHAIN_ID = 33
const SUPPLY = 10n ** 24n
const SHARE = 10n ** 22n
const GWEI = 10n ** 9n
/** How far a sender runs ahead of the blocks; a pool takes sixteen. */
const AHEAD = 8

/** Somebody with a key and a nonce. */
export interface Sender {
  readonly address: string
  readonly kind: 'transfer' | 'token transfer'
  sign(what: Pick<Entry, 'to' | 'value' | 'gasPrice' | 'token'>, data?: string): Promise<Entry>
}

function createSender(index: number): Sender {
  const wallet = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(MNEMONIC), `m/44'/60'/0'/0/${index}`)
  const address = wallet.address.toLowerCase()
  let nonce = 0
  return {
    address,
    kind: index > COINS ? 'token transfer' : 'transfer',
    async sign(what, data) {
      const { to, value, gasPrice, token: moved } = what
      const raw = await wallet.signTransaction({
        type: 0,
        chainId: CHAIN_ID,
        nonce: nonce++,
        value,
        gasPrice,
        to: to ?? null,
        data: data ?? (moved === undefined ? '0x' : transferData(moved.to, moved.amount)),
        gasLimit: to === undefined ? 3_000_000 : moved === undefined ? 21_000 : 100_000,
      })
      return { ...what, hash: keccak256(raw), raw, from: address }
    },
  }
}

/** Makes the senders of one node: the maker of the token first. */
export function createSenders(): readonly Sender[] {
  return Array.from({ length: ACCOUNTS }, (_, i) => createSender(i))
}

/** Makes the token on a fresh node that mines at once, gives each token sender a share, and opens the books. */
export async function openBooks(http: BatchCaller, senders: readonly Sender[]) {
  const [maker] = senders as [Sender]
  const token = getCreateAddress({ from: maker.address, nonce: 0 }).toLowerCase()
  const balances = await http.batch<string>(
    'eth_getBalance',
    senders.map(({ address }) => [address, 'earliest']),
  )
  const opening = new Map(senders.map(({ address }, i) => [address, BigInt(balances[i] as string)]))
  const ledger = new Ledger(opening, { owner: maker.address, tokens: SUPPLY })
  const send = async (entry: Entry) => {
    await http.call('eth_sendRawTransaction', [entry.raw], 'setting up')
    ledger.acknowledge(entry)
  }
  const plain = { value: 0n, gasPrice: GWEI }
  await send(await maker.sign({ ...plain, to: undefined, token: undefined }, creationCode(SUPPLY)))
  for (const { address, kind } of senders) {
    if (kind === 'token transfer')
      await send(await maker.sign({ ...plain, to: token, token: { to: address, amount: SHARE } }))
  }
  return { token, ledger }
}

/** Sends until the node has acknowledged it, through as many of its runs as that takes; false when it is refused. */
async function deliver(
  target: Target,
  entry: Entry,
  kind: string,
  way: (run: Run) => Caller,
): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    const run = await target.run()
    try {
      if (attempt > 0) {
        // The call before was cut off; it may have done its work.
        const known = await run.http.call('eth_getTransactionByHash', [entry.hash], 'asking again')
        if (known !== null) {
          target.ledger.acknowledge(entry, true)
          return true
        }
      }
      const hash = await way(run).call<string>('eth_sendRawTransaction', [entry.raw], kind)
      if (hash !== entry.hash) target.report(`${entry.hash} was acknowledged as ${hash}`)
      target.ledger.acknowledge(entry)
      return true
    } catch (error) {
      await target.callFailed(error, run)
      if (!(error instanceof Unreachable)) return false
    }
  }
}

/**
 * Waits until the blocks have come near to a sender; where nothing mines by itself a block is asked for. How many of its
 * transactions are in blocks.
 */
async function waitForBlocks(
  target: Target,
  { address }: Sender,
  sent: number,
  running: () => boolean,
): Promise<number> {
  while (running()) {
    const run = await target.run()
    try {
      const mined = Number(await run.http.call<string>('eth_getTransactionCount', [address, 'latest']))
      if (sent - mined < AHEAD) return mined
      if (run.mining === 'auto') await run.http.call('evm_mine')
      else await pause(50)
    } catch (error) {
      await target.callFailed(error, run)
    }
  }
  return 0
}

/** Sends as long as `running`, with rests of chance, by HTTP or by WebSocket. */
export async function sendOn(
  target: Target,
  sender: Sender,
  all: readonly Sender[],
  random: Random,
  running: () => boolean,
): Promise<void> {
  const bySocket = random.chance(0.5)
  const others = [...all.map(({ address }) => address), SINK]
  let mined = 0
  for (let sent = 0; running(); sent++) {
    const to = random.pick(others)
    const amount = BigInt(random.whole(1, 1_000_000))
    const gasPrice = BigInt(random.whole(0, 3)) * GWEI
    const entry =
      sender.kind === 'transfer'
        ? await sender.sign({ to, value: amount, gasPrice, token: undefined })
        : await sender.sign({ to: target.token, value: 0n, gasPrice, token: { to, amount } })
    // Without this one, those that follow would wait for ever.
    if (!(await deliver(target, entry, sender.kind, (run) => (bySocket ? run.socket : run.http)))) return
    if (sent + 1 - mined >= AHEAD) mined = await waitForBlocks(target, sender, sent + 1, running)
    await pause(random.whole(5, 60))
  }
}
