/** `#/accounts`: the accounts that the node signs for, a faucet, transfers and impersonation. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  addingBalance,
  firstOpen,
  impersonate,
  impersonated,
  impersonation,
  maySend,
  send,
  settingBalance,
  useAccounts,
} from '../accounts.ts'
import { call, callAll, callFor, RpcError } from '../client.ts'
import { ActionButton } from '../components/action.tsx'
import { ActionForm, Field, useText } from '../components/form.tsx'
import { ACTIONS, type Column, Heading, Section, Show, Table } from '../components/layout.tsx'
import { SenderChoice } from '../components/sender.tsx'
import { AddressLink, Amount, TransactionLink } from '../components/values.tsx'
import { grouped, type Hex, isHex, quantity, shortened, toBigInt } from '../format.ts'
import { addressOf, weiOf } from '../input.ts'
import { type Loaded, useQuery } from '../query.ts'
import { linkTo } from '../router.ts'
import { announce, hasAccounts, may, openMethods, version } from '../store.ts'

/** Accounts of the table. */
const MOST_SHOWN = 100
/** Coins that the faucet gives unless another amount is entered. */
const FAUCET_COINS = '100'

/** Is there an account that transactions can be sent from? */
const canSend = (): boolean => maySend() && (hasAccounts.value || impersonation() !== undefined)

/** Is there a way to give coins? */
const mayGive = (): boolean =>
  addingBalance() !== undefined || settingBalance() !== undefined || (maySend() && hasAccounts.value)

/** Gives coins: by a change of the balance, or where that is closed by a transfer from the chosen account. */
async function give(address: Hex, wei: bigint): Promise<Hex | undefined> {
  const [add, set] = [addingBalance(), settingBalance()]
  if (add !== undefined) await call(add, [address, quantity(wei)])
  else if (set !== undefined) {
    const balance = toBigInt(await callFor(isHex, 'eth_getBalance', [address, 'latest']))
    await call(set, [address, quantity(balance + wei)])
  } else return send({ to: address, value: wei })
  version.value++
  return undefined
}

interface Row {
  readonly address: Hex
  readonly balance: Hex | undefined
  readonly nonce: Hex | undefined
}

const present = (outcome: Hex | RpcError | undefined): Hex | undefined =>
  outcome instanceof RpcError ? undefined : outcome

async function loadRows(addresses: readonly Hex[], signal: AbortSignal): Promise<Row[]> {
  const outcomes = await callAll(
    isHex,
    addresses.flatMap((address) => [
      ['eth_getBalance', [address, 'latest']] as const,
      ['eth_getTransactionCount', [address, 'pending']] as const,
    ]),
    signal,
  )
  return addresses.map((address, i) => ({
    address,
    balance: present(outcomes[2 * i]),
    nonce: present(outcomes[2 * i + 1]),
  }))
}

/** Why there are no accounts, and what to do without them. */
function NoAccounts() {
  return (
    <>
      <p class="empty">
        {may('eth_accounts')
          ? 'The node holds no keys, so there is no account that it signs for.'
          : 'The node does not list its accounts to this caller.'}
      </p>
      <p class="dim empty">
        Sign transactions with a wallet or a library
        {may('eth_sendRawTransaction') && (
          <>
            , and send them by{' '}
            <a href={linkTo('console', 'eth_sendRawTransaction')}>eth_sendRawTransaction</a>
          </>
        )}
        . The search field opens any address: its balance, code and transactions.
      </p>
    </>
  )
}

/** The buttons of an account; `stop` is the method that ends its impersonation. */
function AccountActions({ address, stop }: { readonly address: Hex; readonly stop: string | undefined }) {
  return (
    <>
      {mayGive() && (
        <ActionButton
          label={`Give ${FAUCET_COINS} coins to ${shortened(address, 4)}`}
          text={`Give ${FAUCET_COINS}`}
          kind="plain"
          run={() => give(address, weiOf(FAUCET_COINS))}
        />
      )}
      {stop !== undefined && (
        <ActionButton
          label={`Stop impersonating ${shortened(address, 4)}`}
          text="Stop"
          kind="plain"
          run={async () => {
            await call(stop, [address])
            impersonated.value = impersonated.value.filter((each) => each !== address)
          }}
        />
      )}
    </>
  )
}

const COLUMNS: readonly Column[] = [
  { name: '#', wide: true },
  'Address',
  { name: 'Balance', end: true },
  { name: 'Nonce', end: true, wide: true },
]

function AccountTable({ accounts }: { readonly accounts: Loaded<readonly Hex[]> }) {
  const local = accounts.value ?? []
  const addresses = [...local, ...impersonated.value.filter((address) => !local.includes(address))]
  const rows = useQuery(
    addresses.join(),
    (signal) => loadRows(addresses.slice(0, MOST_SHOWN), signal),
    'live',
  )
  const stop = firstOpen('hardhat_stopImpersonatingAccount', 'anvil_stopImpersonatingAccount')
  const hasActions = mayGive() || (stop !== undefined && impersonated.value.length > 0)
  if (addresses.length === 0) {
    return (
      <Show loaded={accounts}>
        {() => (openMethods.value === undefined ? <p class="dim">Loading…</p> : <NoAccounts />)}
      </Show>
    )
  }
  const cellsOf = ({ address, balance, nonce }: Row, i: number): ComponentChildren[] => [
    i + 1,
    <span key="address">
      <AddressLink address={address} full /> {i >= local.length && <span class="badge">impersonated</span>}
    </span>,
    balance && <Amount key="balance" wei={balance} digits={4} />,
    nonce && grouped(toBigInt(nonce)),
    <AccountActions key="actions" address={address} stop={i < local.length ? undefined : stop} />,
  ]
  return (
    <Show loaded={rows}>
      {(list) => (
        <Table
          label="Accounts"
          stacked
          columns={[...COLUMNS, hasActions && ACTIONS]}
          rows={list.map((row, i) => ({ key: row.address, cells: cellsOf(row, i) }))}
        />
      )}
    </Show>
  )
}

function Faucet() {
  const to = useText()
  const amount = useText(FAUCET_COINS)
  return (
    <Section title="Faucet">
      <p class="dim empty">
        {addingBalance() !== undefined || settingBalance() !== undefined
          ? 'Adds to the balance of any address without a transaction.'
          : 'Sends from the first account.'}
      </p>
      <ActionForm
        label="Faucet"
        button="Give"
        run={async () => {
          const address = addressOf(to.value)
          await give(address, weiOf(amount.value))
          announce(`${amount.value.trim()} coins were given to ${shortened(address)}`)
        }}
      >
        <Field label="Address" text={to} placeholder="0x…" wide />
        <Field label="Amount (coins)" text={amount} />
      </ActionForm>
    </Section>
  )
}

function Transfer() {
  const to = useText()
  const amount = useText()
  const [outcome, setOutcome] = useState<ComponentChildren>(undefined)
  return (
    <Section title="Transfer" actions={<SenderChoice />}>
      <ActionForm
        label="Transfer"
        button="Send"
        run={async () => {
          setOutcome(undefined)
          const hash = await send({ to: addressOf(to.value), value: weiOf(amount.value) })
          setOutcome(
            <p class="empty">
              Sent: <TransactionLink hash={hash} />
            </p>,
          )
        }}
      >
        <Field label="To" text={to} placeholder="0x…" wide />
        <Field label="Amount (coins)" text={amount} placeholder="1.5" />
      </ActionForm>
      <div aria-live="polite">{outcome}</div>
    </Section>
  )
}

function Impersonate() {
  const address = useText()
  return (
    <Section title="Impersonate">
      <p class="dim empty">The node sends for an impersonated account without its key.</p>
      <ActionForm
        label="Impersonate"
        button="Impersonate"
        run={async () => {
          await impersonate(addressOf(address.value))
          address.set('')
        }}
      >
        <Field label="Address" text={address} placeholder="0x…" wide />
      </ActionForm>
    </Section>
  )
}

/** The page. */
export function AccountsPage() {
  const accounts = useAccounts()
  return (
    <>
      <Heading title="Accounts" />
      <Section title="Accounts">
        <AccountTable accounts={accounts} />
      </Section>
      <div class="columns three">
        {canSend() && <Transfer />}
        {mayGive() && <Faucet />}
        {impersonation() !== undefined && maySend() && <Impersonate />}
      </div>
    </>
  )
}
