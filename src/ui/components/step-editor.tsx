/** The fields of a step: a message by the functions of its contract or raw, changes of state, a move of the clock. */
import { useEffect } from 'preact/hooks'
import { parameterLabel } from '../abi.ts'
import { argumentTexts } from '../argument-texts.ts'
import { loadAbi } from '../contracts.ts'
import { type Hex, isAddress } from '../format.ts'
import { bytesOf } from '../input.ts'
import type { AbiEntry } from '../model.ts'
import { useQuery } from '../query.ts'
import { type FunctionTexts, inputOf, type MessageTexts, type StepDraft } from '../simulation/draft.ts'
import { changeStep } from '../simulation/page-state.ts'
import { may } from '../store.ts'
import { Choice, Field } from './form.tsx'
import { AccountRows } from './override-table.tsx'

/** The functions of the contract that a message calls, as its ABI has them. */
function useFunctions(to: string): readonly AbiEntry[] | undefined {
  const address = to.trim().toLowerCase()
  const isKnown = isAddress(address) && may('evm_contractAbi')
  const abi = useQuery(`functions ${isKnown} ${address}`, async (signal) =>
    isKnown ? ((await loadAbi(address, signal))?.abi ?? []) : [],
  )
  return abi.value?.filter(({ type }) => type === 'function')
}

/** The input as bytes; `undefined` where it is not complete. */
function knownInput(step: StepDraft): Hex | undefined {
  try {
    return inputOf(step)
  } catch {
    return undefined
  }
}

/** The function of an ABI that an input calls, with its arguments. */
function formOf(functions: readonly AbiEntry[], data: string): FunctionTexts | undefined {
  try {
    const input = bytesOf(data)
    for (const entry of functions) {
      const texts = argumentTexts(entry, input)
      if (texts !== undefined) return { entry, texts }
    }
  } catch {
    // Bytes that are being typed.
  }
  return undefined
}

function FunctionChoice({
  step,
  functions,
}: {
  readonly step: StepDraft
  readonly functions: readonly AbiEntry[]
}) {
  const { form, message } = step
  // The function of another contract stays until another one is chosen.
  const isForeign = form && !functions.some(({ selector }) => selector === form.entry.selector)
  const known = isForeign ? [form.entry, ...functions] : functions
  function choose(selector: string): void {
    const entry = known.find((each) => each.selector === selector)
    const input = knownInput(step)
    if (entry === undefined) {
      changeStep(step.id, { form: null, message: { ...message, data: input ?? message.data } })
      return
    }
    const texts = (input && argumentTexts(entry, input)) ?? entry.inputs.map(() => '')
    changeStep(step.id, { form: { entry, texts } })
  }
  return (
    <Choice
      label="Function"
      text={{ value: form?.entry.selector ?? '', set: choose }}
      options={[
        ['', 'none: data in hex'],
        ...known.map(({ selector = '', signature, name = '' }) => [selector, signature ?? name] as const),
      ]}
    />
  )
}

function Arguments({ step, form }: { readonly step: StepDraft; readonly form: NonNullable<FunctionTexts> }) {
  const { entry, texts } = form
  return (
    <>
      {entry.inputs.map((parameter, i) => (
        <Field
          key={i}
          label={parameterLabel(parameter, i)}
          wide
          list={parameter.type === 'address' ? 'known-addresses' : undefined}
          text={{
            value: texts[i] ?? '',
            set: (text) => changeStep(step.id, { form: { entry, texts: texts.with(i, text) } }),
          }}
        />
      ))}
    </>
  )
}

const MESSAGE_KINDS = [
  ['call', 'call'],
  ['send', 'send'],
] as const

function MessageFields({ step }: { readonly step: StepDraft }) {
  const { id, form, message } = step
  const functions = useFunctions(message.to)
  useEffect(() => {
    if (form !== undefined || functions === undefined) return
    const found = formOf(functions, message.data)
    if (found !== undefined) changeStep(id, { form: found })
  }, [functions?.length, message.to, message.data, form === undefined])
  const write = (change: Partial<MessageTexts>) => changeStep(id, { message: { ...message, ...change } })
  const hasFunctions = (functions ?? []).length > 0 || form
  return (
    <>
      <div class="line">
        <Choice
          label="Kind"
          text={{
            value: step.kind,
            set: (kind) => changeStep(id, { kind: kind === 'call' ? 'call' : 'send' }),
          }}
          options={MESSAGE_KINDS}
        />
        <Field
          label="From"
          wide
          text={{ value: message.from, set: (from) => write({ from }) }}
          placeholder="0x…"
          list="known-addresses"
        />
        <Field
          label="To (empty: a new contract)"
          wide
          text={{ value: message.to, set: (to) => write({ to }) }}
          placeholder="0x…"
          list="known-addresses"
        />
        {hasFunctions && <FunctionChoice step={step} functions={functions ?? []} />}
      </div>
      <div class="line">
        {form ? (
          <Arguments step={step} form={form} />
        ) : (
          <Field
            label="Data"
            wide
            text={{ value: message.data, set: (data) => write({ data }) }}
            placeholder="0x"
          />
        )}
        <Field
          label="Value (coins)"
          text={{ value: message.value, set: (value) => write({ value }) }}
          placeholder="0"
        />
      </div>
      <details open={[message.gas, message.gasPrice, message.nonce].some((each) => each !== '')}>
        <summary>Gas and nonce</summary>
        <div class="line">
          <Field
            label="Gas"
            text={{ value: message.gas, set: (gas) => write({ gas }) }}
            placeholder="as needed"
          />
          <Field
            label="Gas price (wei)"
            text={{ value: message.gasPrice, set: (gasPrice) => write({ gasPrice }) }}
          />
          <Field
            label="Nonce"
            text={{ value: message.nonce, set: (nonce) => write({ nonce }) }}
            placeholder="next"
          />
        </div>
      </details>
    </>
  )
}

function WarpFields({ step: { id, warp } }: { readonly step: StepDraft }) {
  const text = (name: keyof StepDraft['warp']) => ({
    value: warp[name],
    set: (value: string) => changeStep(id, { warp: { ...warp, [name]: value } }),
  })
  return (
    <div class="line">
      <Field label="Seconds forward" text={text('seconds')} placeholder="3600" />
      <Field label="or to a time (Unix seconds)" text={text('time')} />
      <Field label="Blocks forward" text={text('blocks')} placeholder="1" />
    </div>
  )
}

/** The fields; `number` counts the steps from 1. */
export function StepEditor({ step, number }: { readonly step: StepDraft; readonly number: number }) {
  if (step.kind === 'warp') return <WarpFields step={step} />
  if (step.kind === 'call' || step.kind === 'send') return <MessageFields step={step} />
  return (
    <AccountRows
      label={`step ${number}, row`}
      add="Change another value"
      rows={step.rows}
      onChange={(rows) => changeStep(step.id, { rows })}
    />
  )
}
