/** Compares a node with the ledger: exactly its receipts, nonces, balances, tokens and events. */
import type { BatchCaller } from './client.ts'
import type { Entry, Ledger } from './ledger.ts'
import { balanceOfCall, TRANSFER_TOPIC } from './token.ts'

interface Receipt {
  readonly blockHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  readonly status: string
  readonly gasUsed: string
}

interface Log {
  readonly transactionHash: string
}

/** Blocks whose logs are asked for at once. */
const LOG_BLOCKS = 1000

/** Acknowledged transactions that are neither in a block nor in the pool. */
export async function lostOf(node: BatchCaller, entries: readonly Entry[]): Promise<string[]> {
  const found = await node.batch<unknown>(
    'eth_getTransactionByHash',
    entries.map(({ hash }) => [hash]),
  )
  return entries.filter((_, i) => found[i] === null).map(({ hash }) => hash)
}

/** The receipts of all entries by hash; reports each that is missing, failed, or shares a place with another. */
async function receiptsOf(node: BatchCaller, ledger: Ledger, report: (words: string) => void) {
  const entries = ledger.acknowledged
  const answers = await node.batch<Receipt | null>(
    'eth_getTransactionReceipt',
    entries.map(({ hash }) => [hash]),
  )
  const receipts = new Map<string, Receipt>()
  const places = new Map<string, string>()
  for (const [i, { hash }] of entries.entries()) {
    const receipt = answers[i] ?? null
    if (receipt === null) {
      report(`lost: ${hash} was acknowledged and has no receipt`)
      continue
    }
    receipts.set(hash, receipt)
    if (receipt.status !== '0x1') report(`${hash} failed`)
    const place = `${receipt.blockNumber}/${receipt.transactionIndex}`
    const other = places.get(place)
    if (other !== undefined) report(`${hash} and ${other} are both at ${place}`)
    places.set(place, hash)
  }
  return receipts
}

/** Reports where the events of the whole chain are not those of the token's entries, each once. */
async function checkEvents(
  node: BatchCaller,
  ledger: Ledger,
  address: string,
  report: (words: string) => void,
) {
  const hashes = (which: (entry: Entry) => boolean) =>
    new Set(ledger.acknowledged.filter(which).map(({ hash }) => hash))
  const missing = hashes(({ token }) => token !== undefined)
  // The creation of the token transfers the supply to its creator, with an event.
  const creations = hashes(({ to }) => to === undefined)
  const head = Number(await node.call<string>('eth_blockNumber'))
  for (let from = 0; from <= head; from += LOG_BLOCKS) {
    const range = { fromBlock: hex(from), toBlock: hex(Math.min(head, from + LOG_BLOCKS - 1)) }
    const logs = await node.call<Log[]>('eth_getLogs', [{ ...range, address, topics: [TRANSFER_TOPIC] }])
    for (const { transactionHash } of logs) {
      if (missing.delete(transactionHash) || creations.delete(transactionHash)) continue
      report(`${transactionHash} has an event too many`)
    }
  }
  for (const hash of missing) report(`the event of ${hash} is missing`)
}

const hex = (number: number): string => `0x${number.toString(16)}`

/** Checks everything, and passes each fault to `report` as a sentence. */
export async function audit(
  node: BatchCaller,
  ledger: Ledger,
  token: string,
  report: (words: string) => void,
): Promise<void> {
  const receipts = await receiptsOf(node, ledger, report)
  const standings = [...ledger.standings((hash) => BigInt(receipts.get(hash)?.gasUsed ?? 0))]
  const ask = <T>(method: string, params: (address: string) => unknown[]) =>
    node.batch<T>(
      method,
      standings.map(([address]) => params(address)),
    )
  const balances = await ask<string>('eth_getBalance', (address) => [address, 'latest'])
  const nonces = await ask<string>('eth_getTransactionCount', (address) => [address, 'latest'])
  const tokens = await ask<string>('eth_call', (address) => [balanceOfCall(token, address), 'latest'])
  standings.forEach(([address, { balance, nonce, tokens: held }], i) => {
    const differs = (what: string, is: bigint, due: bigint) => {
      if (is !== due) report(`${address} has ${what} ${is}, not ${due}`)
    }
    differs('the balance', BigInt(balances[i] as string), balance)
    differs('the nonce', BigInt(nonces[i] as string), BigInt(nonce))
    differs('tokens', BigInt(tokens[i] as string), held)
  })
  await checkEvents(node, ledger, token, report)
}
