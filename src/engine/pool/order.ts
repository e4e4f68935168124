/** In which order a block takes runnable transactions: each sender's by nonce, among senders the best price first. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'

/** A pooled transaction and its place in the order of arrival. */
export interface Arrived {
  readonly transaction: Transaction
  readonly arrival: number
}

/** One sender's runnable transactions: the first, and what follows a nonce. */
export interface SenderQueue {
  readonly first: Arrived | undefined
  after(nonce: bigint): Arrived | undefined
}

/** Transactions on offer to a block, handed out one by one. */
export interface Candidates {
  /** The best that is left, or `undefined`. */
  next(): Transaction | undefined
  /** Withholds what is left of the sender whose transaction was handed out last, for that one did not fit. */
  skipSender(address: Hex): void
}

interface Head {
  readonly arrived: Arrived
  readonly queue: SenderQueue
}

/**
 * Equal prices go by arrival: the real node leaves their order undefined
 * (docs/protocol.md#46-transaction-order), and first come, first served makes it the same in every run.
 */
function isBefore({ arrived: a }: Head, { arrived: b }: Head): boolean {
  const priceA = a.transaction.gasPrice
  const priceB = b.transaction.gasPrice
  return priceA === priceB ? a.arrival < b.arrival : priceA > priceB
}

/** Offers the transactions of these queues. Costs one step per sender, then a logarithm of their number per transaction. */
export function createCandidates(queues: Iterable<SenderQueue>): Candidates {
  const heap: Head[] = []
  for (const queue of queues) {
    const arrived = queue.first
    if (arrived !== undefined) heap.push({ arrived, queue })
  }
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(heap, i)
  /** Whose transaction was handed out last; what follows it enters the heap only when the next one is asked for. */
  let last: Head | undefined

  function advance(): void {
    if (last === undefined) return
    const arrived = last.queue.after(last.arrived.transaction.nonce)
    if (arrived !== undefined) {
      heap[0] = { arrived, queue: last.queue }
      sink(heap, 0)
    } else removeFirst(heap)
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
      removeFirst(heap)
      last = undefined
    },
  }
}

function removeFirst(heap: Head[]): void {
  const moved = heap.pop()
  if (moved === undefined || heap.length === 0) return
  heap[0] = moved
  sink(heap, 0)
}

/** Moves the head at `at` down to where none below it goes before it. */
function sink(heap: Head[], at: number): void {
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
