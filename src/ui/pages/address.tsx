/** `#/address/<0x…>`: an account, its transactions, and for a contract its functions, events, storage and code. */
import { type Checked, objectOf, orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { AbiDrop } from '../components/abi-drop.tsx'
import { ErrorText } from '../components/action.tsx'
import { AddressCode, AddressStorage } from '../components/address-code.tsx'
import { AddressEvents } from '../components/address-events.tsx'
import { AddressHistory } from '../components/address-history.tsx'
import { FunctionForms } from '../components/function-forms.tsx'
import { Fields, Heading, Section, Show } from '../components/layout.tsx'
import { AddressLink, Amount, TransactionLink } from '../components/values.tsx'
import { type ContractAbi, loadAbi } from '../contracts.ts'
import { grouped, type Hex, isAddress, isHex, toBigInt } from '../format.ts'
import { contractName } from '../names.ts'
import { useQuery } from '../query.ts'
import { may } from '../store.ts'

const isOrigin = objectOf({ hash: isHex, creator: isHex })

interface Account {
  readonly balance: Hex
  readonly nonce: Hex
  readonly code: Hex
  readonly abi: ContractAbi | null
  readonly origin: Checked<typeof isOrigin> | null
}

async function loadAccount(address: Hex, signal: AbortSignal): Promise<Account> {
  const [balance, nonce, code, abi, origin] = await Promise.all([
    callFor(isHex, 'eth_getBalance', [address, 'latest'], signal),
    callFor(isHex, 'eth_getTransactionCount', [address, 'latest'], signal),
    callFor(isHex, 'eth_getCode', [address, 'latest'], signal),
    loadAbi(address, signal),
    may('ots_getContractCreator')
      ? callFor(orNull(isOrigin), 'ots_getContractCreator', [address], signal)
      : null,
  ])
  return { balance, nonce, code, abi, origin }
}

function AccountFields({ account }: { readonly account: Account }) {
  const { balance, nonce, origin } = account
  return (
    <Section title="Account">
      <Fields
        rows={[
          ['Balance', <Amount key="balance" wei={balance} digits={18} />],
          ['Nonce', grouped(toBigInt(nonce)), 'Transactions that it has sent, or contracts that it has made'],
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

function AccountView({ address }: { readonly address: Hex }) {
  const account = useQuery(
    `${address} ${may('evm_contractAbi')} ${may('ots_getContractCreator')}`,
    (signal) => loadAccount(address, signal),
    'live',
  )
  return (
    <Show loaded={account}>
      {(value) => {
        const isContract = value.code.length > 2
        const abi = value.abi?.abi ?? []
        return (
          <>
            <AccountFields account={value} />
            <FunctionForms key={address} abi={abi} address={address} />
            {isContract && value.abi === null && may('evm_setAbi') && (
              <Section title="ABI">
                <p class="dim empty">
                  The node knows no ABI of this contract. With one, its functions can be called here.
                </p>
                <AbiDrop address={address} />
              </Section>
            )}
            <AddressHistory address={address} />
            {isContract && (
              <>
                <AddressEvents address={address} />
                <div class="columns">
                  <AddressStorage address={address} />
                  <AddressCode code={value.code} abi={abi} />
                </div>
              </>
            )}
          </>
        )
      }}
    </Show>
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
        <AccountView address={address} />
      ) : (
        <ErrorText message="This is no address: 0x and 40 hex digits are expected" />
      )}
    </>
  )
}
