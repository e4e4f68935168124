/** Overrides as rows of fields: of accounts, by the names of variables or raw, and of the block. */
import { type Checked, isAnything, isText, recordOf } from '../checks.ts'
import { callFor } from '../client.ts'
import { isAddress } from '../format.ts'
import { useQuery } from '../query.ts'
import { NO_ACCOUNT_ROW } from '../simulation/draft.ts'
import {
  ACCOUNT_MEMBERS,
  type AccountMember,
  type AccountRow,
  BLOCK_MEMBERS,
  type BlockMember,
  type BlockRow,
  hasName,
} from '../simulation/override-rows.ts'
import { may } from '../store.ts'
import { Choice, Field } from './form.tsx'

const areVariables = recordOf(isText, isAnything)
type Variables = Checked<typeof areVariables>

/** Values of variables of a contract by their paths, of all that are no mappings where none is given; empty where its layout is not known. */
function useValues({ address, what }: AccountRow, path?: string): Variables {
  const plain = address.trim().toLowerCase()
  const isWanted = what === 'variables' && isAddress(plain) && may('evm_getVariables')
  const parameters = path === undefined ? [plain] : [plain, [path]]
  const loaded = useQuery(`variables ${isWanted} ${plain} ${path}`, async (signal) =>
    isWanted ? callFor(areVariables, 'evm_getVariables', parameters, signal) : {},
  )
  return loaded.value ?? {}
}

/** The variables of a contract with their values now, and the value of a part that is named. */
function useVariables(row: AccountRow): Variables {
  const all = useValues(row)
  // The list has no values of mappings, and no members of structs.
  const named = useValues(row, /[.\]]/.test(row.name) ? row.name.trim() : undefined)
  return { ...all, ...named }
}

function isOneOf<Value extends string>(
  options: readonly (readonly [Value, string])[],
  value: string,
): Value | undefined {
  return options.find(([each]) => each === value)?.[0]
}

const VALUE_LABELS: Readonly<Record<AccountMember, string>> = {
  balance: 'Coins',
  nonce: 'Nonce',
  code: 'Code in hex',
  state: 'Value',
  stateDiff: 'Value',
  variables: 'Value',
  movePrecompileToAddress: 'Address',
}

/** The fields of one override of an account. */
function AccountFields({
  row,
  id,
  onChange,
}: {
  readonly row: AccountRow
  readonly id: string
  readonly onChange: (change: Partial<AccountRow>) => void
}) {
  const { address, what, name, value } = row
  const variables = useVariables(row)
  const now = variables[name.trim()]
  return (
    <>
      <Field
        label="Account"
        wide
        text={{ value: address, set: (text) => onChange({ address: text }) }}
        placeholder="0x…"
        list="known-addresses"
      />
      <Choice
        label="What"
        text={{
          value: what,
          set: (text) => onChange({ what: isOneOf(ACCOUNT_MEMBERS, text) ?? what }),
        }}
        options={ACCOUNT_MEMBERS}
      />
      {hasName(row) && (
        <Field
          label={what === 'variables' ? 'Variable' : 'Slot'}
          text={{ value: name, set: (text) => onChange({ name: text }) }}
          placeholder={what === 'variables' ? 'balances[0x…]' : '0'}
          list={what === 'variables' ? id : undefined}
        />
      )}
      {what === 'variables' && (
        <datalist id={id}>
          {Object.keys(variables).map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
      )}
      <Field
        label={VALUE_LABELS[what]}
        wide
        text={{ value, set: (text) => onChange({ value: text }) }}
        placeholder={now === undefined ? undefined : `now ${isText(now) ? now : JSON.stringify(now)}`}
      />
    </>
  )
}

function RemoveButton({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <button type="button" class="plain" aria-label={label} title={label} onClick={onClick}>
      ×
    </button>
  )
}

/** The rows of accounts; `label` names them, such as `Step 2, row`. */
export function AccountRows({
  label,
  add,
  rows,
  onChange,
}: {
  readonly label: string
  /** Text of the button that adds a row. */
  readonly add: string
  readonly rows: readonly AccountRow[]
  readonly onChange: (rows: readonly AccountRow[]) => void
}) {
  return (
    <div class="rows">
      {rows.map((row, i) => (
        <fieldset key={i} class="line" aria-label={`${label} ${i + 1}`}>
          <AccountFields
            row={row}
            id={`variables ${label} ${i}`.replaceAll(' ', '-')}
            onChange={(change) => onChange(rows.with(i, { ...row, ...change }))}
          />
          <RemoveButton label={`Remove ${label} ${i + 1}`} onClick={() => onChange(rows.toSpliced(i, 1))} />
        </fieldset>
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => onChange([...rows, { ...NO_ACCOUNT_ROW, address: rows.at(-1)?.address ?? '' }])}
      >
        {add}
      </button>
    </div>
  )
}

/** The rows of the block. */
export function BlockRows({
  rows,
  onChange,
}: {
  readonly rows: readonly BlockRow[]
  readonly onChange: (rows: readonly BlockRow[]) => void
}) {
  const next = (): BlockMember =>
    BLOCK_MEMBERS.find(([what]) => !rows.some((row) => row.what === what))?.[0] ?? 'blockHash'
  return (
    <div class="rows">
      {rows.map((row, i) => {
        const change = (part: Partial<BlockRow>) => onChange(rows.with(i, { ...row, ...part }))
        return (
          <fieldset key={i} class="line" aria-label={`Block override ${i + 1}`}>
            <Choice
              label="What"
              text={{
                value: row.what,
                set: (text) => change({ what: isOneOf(BLOCK_MEMBERS, text) ?? row.what }),
              }}
              options={BLOCK_MEMBERS}
            />
            {hasName(row) && (
              <Field label="Height" text={{ value: row.name, set: (name) => change({ name }) }} />
            )}
            <Field label="Value" wide text={{ value: row.value, set: (value) => change({ value }) }} />
            <RemoveButton
              label={`Remove block override ${i + 1}`}
              onClick={() => onChange(rows.toSpliced(i, 1))}
            />
          </fieldset>
        )
      })}
      <button
        type="button"
        class="plain"
        onClick={() => onChange([...rows, { what: next(), name: '', value: '' }])}
      >
        Override the block
      </button>
    </div>
  )
}
