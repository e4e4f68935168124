/** `#/address/<0x…>`: an account, its transactions, and for a contract its functions, events, storage and code. */
import { useRef } from 'preact/hooks'
import { type Checked, objectOf, orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { ErrorText } from '../components/action.tsx'
import { AddressCode, AddressStorage } from '../components/address-code.tsx'
import { AddressEvents } from '../components/address-events.tsx'
import { AddressHistory } from '../components/address-history.tsx'
import { AddressPayouts } from '../components/address-payouts.tsx'
import { AddressSource } from '../components/address-source.tsx'
import { FileDrop } from '../components/file-drop.tsx'
import { FunctionForms } from '../components/function-forms.tsx'
import { Fields, Heading, Section, Show } from '../components/layout.tsx'
import { openTab, type Tab, Tabs } from '../components/tabs.tsx'
import { TimeSlider } from '../components/time-slider.tsx'
import { TokenSections } from '../components/token-sections.tsx'
import { TokenTransfers } from '../components/token-transfers.tsx'
import { AddressLink, Amount, TransactionLink } from '../components/values.tsx'
import { type ContractAbi, loadAbi } from '../contracts.ts'
import { grouped, type Hex, isAddress, isHex, toBigInt } from '../format.ts'
import { balanceAt, blockOfMoment, codeAt, type Moment, momentIn, momentParameters } from '../moment.ts'
import { contractName } from '../names.ts'
import { useQuery } from '../query.ts'
import { linkHere, replaceAddress, route } from '../router.ts'
import { may } from '../store.ts'
import { loadToken, STANDARDS, shortText, type Token } from '../tokens.ts'

const isOrigin = objectOf({ hash: isHex, creator: isHex })

interface Account {
  readonly balance: Hex
  /** Unknown within a block. */
  readonly nonce: Hex | undefined
  readonly code: Hex
  readonly abi: ContractAbi | null
  readonly token: Token | null
  readonly origin: Checked<typeof isOrigin> | null
}

async function loadAccount(address: Hex, moment: Moment | undefined, signal: AbortSignal): Promise<Account> {
  const block = blockOfMoment(moment)
  // Only calls read the state within a block; no opcode reads a nonce.
  const within = moment?.transactions === undefined ? undefined : moment
  const [balance, nonce, code, abi, token, origin] = await Promise.all([
    within === undefined
      ? callFor(isHex, 'eth_getBalance', [address, block], signal)
      : balanceAt(address, within, signal),
    within === undefined ? callFor(isHex, 'eth_getTransactionCount', [address, block], signal) : undefined,
    within === undefined
      ? callFor(isHex, 'eth_getCode', [address, block], signal)
      : codeAt(address, within, signal),
    loadAbi(address, signal),
    loadToken(address, moment, signal),
    may('ots_getContractCreator')
      ? callFor(orNull(isOrigin), 'ots_getContractCreator', [address], signal)
      : null,
  ])
  return { balance, nonce, code, abi, token, origin }
}

function AccountFields({ account }: { readonly account: Account }) {
  const { balance, nonce, token, origin } = account
  return (
    <Section title="Account">
      <Fields
        rows={[
          ['Balance', <Amount key="balance" wei={balance} digits={18} />],
          [
            'Nonce',
            nonce && grouped(toBigInt(nonce)),
            'Transactions that it has sent, or contracts that it has made',
          ],
          [
            'Token',
            token !== null && (
              <span key="token">
                {shortText(token.name ?? '')} {token.symbol !== null && `(${shortText(token.symbol)})`}{' '}
                <span class="badge">{STANDARDS[token.type]}</span>
              </span>
            ),
          ],
          [
            'Made by',
            origin === null ? undefined : (
              <span key="origin">
                <AddressLink address={origin.creator} /> in <TransactionLink hash={origin.hash} />
              </span>
            ),
          ],
        ]}
      />
    </Section>
  )
}

interface PartsProperties {
  readonly address: Hex
  readonly account: Account
  /** The moment that reads are made at; the present where it is undefined. */
  readonly moment: Moment | undefined
}

/** The parts of a contract: functions, history, events, storage and code. */
function ContractParts({ address, account, moment }: PartsProperties) {
  const abi = account.abi?.abi ?? []
  return (
    <>
      <FunctionForms key={address} abi={abi} address={address} moment={moment} />
      {account.abi === null && may('evm_setAbi') && (
        <Section title="ABI">
          <p class="dim empty">
            The node knows no ABI of this contract. With one, its functions can be called here.
          </p>
          <FileDrop address={address} />
        </Section>
      )}
      <AddressHistory address={address} />
      <AddressEvents address={address} />
      <div class="columns">
        <AddressStorage address={address} moment={moment} />
        <AddressCode code={account.code} abi={abi} />
      </div>
    </>
  )
}

/** The parts of an account, of which one is open: tokens and source where there are any. */
function AccountTabs({ address, account, moment }: PartsProperties) {
  const { token } = account
  const isContract = account.code.length > 2
  const tabs: readonly Tab[] = [
    ['', isContract ? 'Contract' : 'Account'],
    ...(token === null ? [] : ([['token', 'Token']] as const)),
    ...(may('evm_tokenTransfers') ? ([['transfers', 'Token transfers']] as const) : []),
    ...(isContract && may('evm_sourcesAt') ? ([['source', 'Source']] as const) : []),
  ]
  const open = openTab(tabs)
  return (
    <>
      {tabs.length > 1 && <Tabs label="Parts of the account" tabs={tabs} />}
      {open === '' && isContract && <ContractParts address={address} account={account} moment={moment} />}
      {open === '' && !isContract && <AddressHistory address={address} />}
      {open === '' && <AddressPayouts address={address} />}
      {open === 'token' && token !== null && <TokenSections token={token} moment={moment} />}
      {open === 'transfers' && <TokenTransfers account={address} />}
      {open === 'source' && <AddressSource address={address} />}
    </>
  )
}

function AccountView({ address }: { readonly address: Hex }) {
  const moment = momentIn(route.value.parameters)
  const account = useQuery(
    `${address} ${moment?.block} ${moment?.transactions} ${may('evm_contractAbi')} ${may('ots_getContractCreator')} ${may('evm_token')}`,
    (signal) => loadAccount(address, moment, signal),
    'live',
  )
  // What is typed into the forms stays while another moment is loaded.
  const last = useRef<Account | undefined>(undefined)
  last.current = account.value ?? last.current
  return (
    <>
      <TimeSlider moment={moment} onChange={(chosen) => replaceAddress(linkHere(momentParameters(chosen)))} />
      <Show loaded={{ ...account, value: account.value ?? last.current }}>
        {(value) => (
          <>
            <AccountFields account={value} />
            <AccountTabs address={address} account={value} moment={moment} />
          </>
        )}
      </Show>
    </>
  )
}

/** The page. */
export function AddressPage({ argument }: { readonly argument: string }) {
  const address = argument.toLowerCase()
  const isValid = isAddress(address)
  const name = isValid ? contractName(address) : undefined
  return (
    <>
      <Heading title={`${name ?? 'Address'} ${argument}`}>
        {name ?? 'Address'} <span class="mono subtitle">{argument}</span>
      </Heading>
      {isValid ? (
        <AccountView key={address} address={address} />
      ) : (
        <ErrorText message="This is no address: 0x and 40 hex digits are expected" />
      )}
    </>
  )
}
