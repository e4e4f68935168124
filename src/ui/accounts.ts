/** The accounts that can send, the one that is chosen, and how a transaction is sent. */
import { signal } from '@preact/signals'
import { listOf, orNull } from './checks.ts'
import { call, callFor, RpcError } from './client.ts'
import { decodeAll } from './decode.ts'
import { failureText, type Hex, isHex, messageOf, quantity } from './format.ts'
import { addressOf } from './input.ts'
import { isReceipt, type Receipt } from './model.ts'
import { callAtMoment, type Moment } from './moment.ts'
import { type Loaded, useQuery } from './query.ts'
import { hasAccounts, may } from './store.ts'

/** The account that forms send from; empty: the first one. */
export const sender = signal('')

/** Addresses that this page has impersonated. */
export const impersonated = signal<readonly Hex[]>([])

/** The first of these methods that the caller may use. */
export function firstOpen(...methods: readonly string[]): string | undefined {
  return methods.find(may)
}

/** The method that impersonates an address, where it is open. */
export function impersonation(): string | undefined {
  return firstOpen('hardhat_impersonateAccount', 'anvil_impersonateAccount')
}

/** The methods that add to a balance, and that set one, where they are open. */
export const addingBalance = () => firstOpen('hardhat_addBalance', 'anvil_addBalance')
export const settingBalance = () => firstOpen('hardhat_setBalance', 'anvil_setBalance')

/** Is there an account that the node signs for or may impersonate, or a balance that may be set? */
export function hasUseOfAccounts(): boolean {
  return (
    hasAccounts.value || [impersonation, addingBalance, settingBalance].some((open) => open() !== undefined)
  )
}

/** May this caller have the node send transactions? */
export function maySend(): boolean {
  return may('eth_sendTransaction')
}

/** The accounts that the node signs for. */
export function useAccounts(): Loaded<readonly Hex[]> {
  return useQuery(
    `accounts ${may('eth_accounts')}`,
    async (signal) => (may('eth_accounts') ? callFor(listOf(isHex), 'eth_accounts', [], signal) : []),
    'settled',
  )
}

/** Impersonates an address: the node then sends for it without its key. Throws `RpcError`. */
export async function impersonate(address: Hex): Promise<void> {
  const method = impersonation()
  if (method === undefined) throw new Error('The node does not let this caller impersonate accounts')
  await call(method, [address])
  if (!impersonated.value.includes(address)) impersonated.value = [...impersonated.value, address]
}

/** A message to send, or to simulate. */
export interface Message {
  readonly to?: Hex
  readonly data?: Hex
  readonly value?: bigint
}

function wireOf({ to, data, value = 0n }: Message, from: Hex | undefined): TransactionRequest {
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(data !== undefined && { data }),
    ...(value > 0n && { value: quantity(value) }),
  }
}

/** The account of a text, or the first one where it is empty; another one than the node's is impersonated. */
async function senderOf(text: string): Promise<Hex> {
  const accounts = may('eth_accounts') ? await callFor(listOf(isHex), 'eth_accounts') : []
  const [first] = accounts
  if (text === '') {
    if (first === undefined) throw new Error('The node signs for no account')
    return first
  }
  const address = addressOf(text)
  if (!accounts.includes(address) && !impersonated.value.includes(address)) await impersonate(address)
  return address
}

/** Why a message failed, with the name of the error where its ABI is known. */
async function failureOf(error: unknown, to: Hex | undefined): Promise<Error> {
  if (!(error instanceof RpcError)) return error instanceof Error ? error : new Error(messageOf(error))
  const message = failureText(error.message)
  const data = isHex(error.data) ? error.data : undefined
  if (data === undefined || data === '0x') return new Error(message)
  const [decoded] = await decodeAll([{ kind: 'error', data, address: to }]).catch(() => [])
  const isKnown = decoded === null || decoded === undefined || message.includes(decoded.text)
  return new Error(isKnown ? message : `${message}: ${decoded.text}`)
}

/** A transaction as the wire has it; without `from` it is sent by the first account. */
export interface TransactionRequest {
  readonly from?: Hex
  readonly to?: Hex
  readonly data?: Hex
  readonly value?: Hex
  readonly gas?: Hex
  readonly gasPrice?: Hex
  readonly nonce?: Hex
}

/** Sends a transaction, with the gas that it needs unless it says how much; returns the hash. Throws an Error that gives the failure in words. */
export async function sendTransaction(message: TransactionRequest): Promise<Hex> {
  const request = { ...message, from: await senderOf(message.from ?? '') }
  try {
    const isEstimated = request.gas === undefined && may('eth_estimateGas')
    const gas = isEstimated ? await callFor(isHex, 'eth_estimateGas', [request]) : request.gas
    return await callFor(isHex, 'eth_sendTransaction', [{ ...request, ...(gas !== undefined && { gas }) }])
  } catch (error) {
    throw await failureOf(error, message.to)
  }
}

/** Sends from the chosen account with the gas that it needs; returns the hash. Throws an Error that gives the failure in words. */
export async function send(message: Message): Promise<Hex> {
  return sendTransaction(wireOf(message, sender.value === '' ? undefined : addressOf(sender.value)))
}

/** The receipt of a transaction; null while it waits. */
export function receiptOf(hash: Hex): Promise<Receipt | null> {
  return callFor(orNull(isReceipt), 'eth_getTransactionReceipt', [hash])
}

/** Simulates a message from the chosen account on the state of a block; returns its output. Throws an Error that gives the failure in words. */
export async function simulate(message: Message, block: string = 'latest'): Promise<Hex> {
  const from = sender.value === '' ? undefined : addressOf(sender.value)
  try {
    const [first] =
      from === undefined && may('eth_accounts') ? await callFor(listOf(isHex), 'eth_accounts') : [from]
    return await callFor(isHex, 'eth_call', [wireOf(message, first), block])
  } catch (error) {
    throw await failureOf(error, message.to)
  }
}

/** Simulates a message from the chosen account at a moment within a block; returns its output. Throws an Error that gives the failure. */
export function simulateWithin(message: Message, moment: Moment): Promise<Hex> {
  const from = sender.value === '' ? undefined : addressOf(sender.value)
  return callAtMoment(wireOf(message, from), moment)
}
