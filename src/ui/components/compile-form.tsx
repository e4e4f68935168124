/** A form whose sources the node compiles to verify a contract. Absent where the node finds no compiler. */
import { useState } from 'preact/hooks'
import { loadCompilers, verifySource } from '../compile.ts'
import type { Hex } from '../format.ts'
import { useQuery } from '../query.ts'
import { ActionForm, Choice, Field, useText } from './form.tsx'
import { Section } from './layout.tsx'

/** The form of an address. */
export function CompileForm({ address }: { readonly address: Hex }) {
  const compilers = useQuery('compilers', loadCompilers, 'once').value ?? []
  const [source, setSource] = useState('')
  const [contract, compiler, runs, evmVersion, words] = [
    useText(),
    useText(),
    useText(),
    useText(),
    useText(),
  ]
  const [newest] = compilers
  if (newest === undefined) return null
  const chosen = { ...compiler, value: compiler.value || newest }
  return (
    <Section title="Compile">
      <ActionForm
        label="Compile and verify"
        button="Compile and verify"
        run={() =>
          verifySource(address, {
            source,
            contract: contract.value,
            compiler: chosen.value,
            runs: runs.value,
            evmVersion: evmVersion.value,
            words: words.value,
          })
        }
      >
        <label class="field whole">
          <span>Source in one file, or the standard input of the compiler (JSON)</span>
          <textarea
            rows={8}
            value={source}
            spellcheck={false}
            onInput={(event) => setSource(event.currentTarget.value)}
          />
        </label>
        <Field label="Contract" text={contract} placeholder="Box, or path:Box" />
        <Choice label="Compiler" text={chosen} options={compilers.map((each) => [each, each])} />
        <Field label="Optimiser runs" text={runs} placeholder="none" />
        <Field label="EVM version" text={evmVersion} placeholder="the compiler's" />
        <Field label="Constructor arguments" text={words} placeholder="hex; compared where given" wide />
      </ActionForm>
    </Section>
  )
}
