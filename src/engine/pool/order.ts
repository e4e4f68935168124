/** The order in which a block includes runnable transactions: each sender's by nonce, among senders the best price first, or the earliest. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { TransactionOrder } from '../../options/engine-settings.ts'

/** A pooled transaction and its place in the order of arrival. */
export interface Arrived {
  readonly transaction: Transaction
  readonly arrival: number
}

/** One sender's runnable transactions in order of nonce. */
export interface SenderQueue {
  readonly first: Arrived | undefined
  /** The one with the next nonce, or `undefined`. */
  after(nonce: bigint): Arrived | undefined
}

/** Iterates over the transactions that a block may include. */
export interface Candidates {
  /** The best of the remaining ones, or `undefined`. */
  next(): Transaction | undefined
  /** Skips the remaining transactions of the sender whose transaction `next` returned last, because that one did not fit. */
  skipSender(address: Hex): void
}

/** These transactions in this order; a failed one does not skip the sender's others. */
export function inOrder(transactions: readonly Transaction[]): Candidates {
  let index = 0
  return { next: () => transactions[index++], skipSender() {} }
}

interface Head {
  readonly arrived: Arrived
  readonly queue: SenderQueue
}

/**
 * Equal prices go by arrival: the reference node leaves their order undefined
 * (docs/internals/protocol.md#46-transaction-order), and the order of arrival is the same in every run.
 */
function isBetter({ arrived: a }: Head, { arrived: b }: Head): boolean {
  const priceA = a.transaction.gasPrice
  const priceB = b.transaction.gasPrice
  return priceA === priceB ? a.arrival < b.arrival : priceA > priceB
}

function isEarlier({ arrived: a }: Head, { arrived: b }: Head): boolean {
  return a.arrival < b.arrival
}

/** Iterates over the transactions of these queues with a binary heap: O(senders) to start, O(log senders) per transaction. */
export function createCandidates(
  queues: Iterable<SenderQueue>,
  order: TransactionOrder = 'fees',
): Candidates {
  const isBefore = order === 'fees' ? isBetter : isEarlier
  const heap: Head[] = []
  for (const queue of queues) {
    const arrived = queue.first
    if (arrived !== undefined) heap.push({ arrived, queue })
  }
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) siftDown(heap, i, isBefore)
  /** The sender of the transaction returned last; its next one enters the heap at the next call of `next`. */
  let last: Head | undefined

  function advance(): void {
    if (last === undefined) return
    const arrived = last.queue.after(last.arrived.transaction.nonce)
    if (arrived !== undefined) {
      heap[0] = { arrived, queue: last.queue }
      siftDown(heap, 0, isBefore)
    } else removeFirst(heap, isBefore)
    last = undefined
  }

  return {
    next() {
      advance()
      last = heap[0]
      return last?.arrived.transaction
    },
    skipSender(address) {
      if (last === undefined || last.arrived.transaction.from !== address) return
      removeFirst(heap, isBefore)
      last = undefined
    },
  }
}

type Before = (a: Head, b: Head) => boolean

function removeFirst(heap: Head[], isBefore: Before): void {
  const moved = heap.pop()
  if (moved === undefined || heap.length === 0) return
  heap[0] = moved
  siftDown(heap, 0, isBefore)
}

/** Sifts the entry at `at` down. */
function siftDown(heap: Head[], at: number, isBefore: Before): void {
  const moving = heap[at]
  if (moving === undefined) return
  let hole = at
  for (;;) {
    const left = 2 * hole + 1
    let best = heap[left]
    if (best === undefined) break
    let child = left
    const right = heap[left + 1]
    if (right !== undefined && isBefore(right, best)) {
      best = right
      child = left + 1
    }
    if (!isBefore(best, moving)) break
    heap[hole] = best
    hole = child
  }
  heap[hole] = moving
}
