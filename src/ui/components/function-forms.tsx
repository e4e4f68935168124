/** A form for each function of a contract: call it or send to it, and see the decoded answer or the failure. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { encodeCall, parameterLabel } from '../abi.ts'
import { maySend, receiptOf, send, simulate, simulateWithin } from '../accounts.ts'
import { decodeAll } from '../decode.ts'
import { grouped, type Hex, toBigInt } from '../format.ts'
import { blockOf, weiOf } from '../input.ts'
import type { AbiEntry } from '../model.ts'
import { blockOfMoment, type Moment } from '../moment.ts'
import { useAction } from '../query.ts'
import { may } from '../store.ts'
import { ErrorText } from './action.tsx'
import { Field, useText, useTexts } from './form.tsx'
import { Section } from './layout.tsx'
import { SenderChoice } from './sender.tsx'
import { Bytes, TransactionLink } from './values.tsx'

const isRead = ({ stateMutability }: AbiEntry): boolean =>
  stateMutability === 'view' || stateMutability === 'pure'

/** A call of a function. */
interface FunctionCall {
  readonly address: Hex
  readonly data: Hex
  readonly value: bigint
}

async function read(
  entry: AbiEntry,
  { address, data, value }: FunctionCall,
  block: string | Moment,
): Promise<ComponentChildren> {
  const message = { to: address, data, value }
  const output =
    typeof block === 'string' ? await simulate(message, block) : await simulateWithin(message, block)
  if ((entry.outputs?.length ?? 0) === 0) return 'No failure; the function returns nothing'
  const [decoded] = await decodeAll([{ kind: 'call', data, address, output }])
  if (decoded?.output === undefined) return <Bytes hex={output} label="Output" />
  return (
    <>
      <span class="answer">{decoded.output}</span>
      <details>
        <summary>Bytes</summary>
        <Bytes hex={output} label="Output" />
      </details>
    </>
  )
}

async function write({ address, data, value }: FunctionCall): Promise<ComponentChildren> {
  const hash = await send({ to: address, data, value })
  const receipt = await receiptOf(hash)
  return (
    <>
      {receipt === null
        ? 'Waits in the pool: '
        : receipt.status === '0x1'
          ? `Succeeded, ${grouped(toBigInt(receipt.gasUsed))} gas: `
          : 'Failed: '}
      <TransactionLink hash={hash} />
    </>
  )
}

/** The block that a user typed, or else the moment of the page. */
function placeOf(typed: string, moment: Moment | undefined): string | Moment {
  if (typed !== '' || moment === undefined) return blockOf(typed)
  return moment.transactions === undefined ? blockOfMoment(moment) : moment
}

function outputText({ outputs = [] }: AbiEntry): string {
  return outputs.map(({ name, type }) => (name === '' ? type : `${name} ${type}`)).join(', ')
}

/** `label` is the accessible name: the function's name, or its signature where several have the name. */
function FunctionForm({
  entry,
  label,
  address,
  block,
  moment,
}: {
  readonly entry: AbiEntry
  readonly label: string
  readonly address: Hex
  /** The block that reads are made at, as the user typed it. */
  readonly block: string
  /** The moment of the page, where the user typed no block. */
  readonly moment: Moment | undefined
}) {
  const { inputs, stateMutability } = entry
  const { texts, setText } = useTexts(inputs.length)
  const value = useText()
  const [outcome, setOutcome] = useState<ComponentChildren>(undefined)
  const isSent = !isRead(entry) && maySend()
  const outputs = outputText(entry)
  const action = useAction(async () => {
    setOutcome(undefined)
    const data = encodeCall(entry, texts)
    const call = { address, data, value: weiOf(value.value) }
    setOutcome(await (isSent ? write(call) : read(entry, call, placeOf(block, moment))))
  })
  return (
    <form
      aria-label={label}
      class="function"
      onSubmit={(event) => {
        event.preventDefault()
        action.run()
      }}
    >
      <div class="function-head">
        <strong>{label}</strong>
        {outputs !== '' && <span class="dim"> → {outputs}</span>}
      </div>
      {inputs.map((parameter, i) => (
        <Field
          key={i}
          label={parameterLabel(parameter, i)}
          text={{ value: texts[i] ?? '', set: (text) => setText(i, text) }}
        />
      ))}
      {stateMutability === 'payable' && <Field label="Value (coins)" text={value} />}
      <div class="line">
        <button type="submit" class={isSent ? undefined : 'plain'} disabled={action.isRunning}>
          {isSent ? 'Send' : 'Call'}
        </button>
        <div class="outcome" aria-live="polite">
          {outcome !== undefined && action.error === undefined && outcome}
          <ErrorText message={action.error} />
        </div>
      </div>
    </form>
  )
}

/** The forms of all functions of an ABI, those that read before those that change state. */
export function FunctionForms({
  abi,
  address,
  moment,
}: {
  readonly abi: readonly AbiEntry[]
  readonly address: Hex
  readonly moment?: Moment | undefined
}) {
  const block = useText()
  const functions = abi.filter(({ type }) => type === 'function')
  if (functions.length === 0 || !may('eth_call')) return null
  const labelOf = ({ name = '', signature }: AbiEntry): string =>
    functions.filter((other) => other.name === name).length > 1 ? (signature ?? name) : name
  const parts = [
    ['Read', functions.filter(isRead)],
    ['Write', functions.filter((entry) => !isRead(entry))],
  ] as const
  return (
    <div class="columns">
      {parts.map(
        ([title, entries], i) =>
          entries.length > 0 && (
            <Section
              key={title}
              title={title}
              actions={(i === 1 || parts[1][1].length === 0) && maySend() && <SenderChoice />}
            >
              {i === 0 && (
                <Field
                  label="At block"
                  text={block}
                  placeholder={moment === undefined ? 'latest' : String(moment.block)}
                />
              )}
              {entries.map((entry) => (
                <FunctionForm
                  key={entry.signature}
                  entry={entry}
                  label={labelOf(entry)}
                  address={address}
                  block={block.value}
                  moment={moment}
                />
              ))}
            </Section>
          ),
      )}
    </div>
  )
}
