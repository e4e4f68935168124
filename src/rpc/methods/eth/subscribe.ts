/**
 * Subscriptions, over WebSocket and in process; HTTP cannot notify
 * (docs/internals/rpc-reference.md#78-subscriptions).
 */
import { z } from 'zod'
import { method } from '../../method.ts'
import { optional } from '../../parameter.ts'
import {
  SubscriptionFilter,
  SubscriptionId,
  SubscriptionIdText,
  SubscriptionName,
} from '../../wire/subscription.ts'

export const eth_subscribe = method({
  name: 'eth_subscribe',
  notifies: true,
  hosted: true,
  summary:
    'Subscribes to new headers, matching logs, pending transactions or the progress of synchronisation. `chain` notifies of each change of the canonical chain, including reverts to a snapshot: `{ number, hash, ancestor, removed, added }`. `console` notifies of console output and failure reasons of transactions; on a node without API keys also of simulated calls, with a null hash: `{ transactionHash, console, failure }`.',
  params: { type: SubscriptionName, filter: optional(SubscriptionFilter, null) },
  result: () => SubscriptionIdText,
  errors: ['too-many'],
  examples: [
    { params: ['newHeads'], result: '0x9847e55bc15f40005ae4dbd2037bf06f', varies: true },
    {
      params: ['logs', { address: '0x0000000000000000000000000000000001000008', topics: [] }],
      result: '0x9847e55bc15f40005ae4dbd2037bf06f',
      varies: true,
    },
  ],
  run: ({ type, filter }, { subscriptions, session }) => subscriptions.add(type, filter, session),
})

export const eth_unsubscribe = method({
  name: 'eth_unsubscribe',
  notifies: true,
  hosted: true,
  summary: 'Ends a subscription of this connection; false when it has none with this id.',
  params: { id: SubscriptionId },
  result: () => z.boolean(),
  examples: [{ params: ['0x1'], result: false }],
  run: ({ id }, { subscriptions, session }) => subscriptions.remove(id, session),
})

/** The methods of this file, in the order of the document. */
export const SUBSCRIBE_METHODS = [eth_subscribe, eth_unsubscribe] as const
