/** Where files of ABIs are dropped or chosen. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { registerFile } from '../contracts.ts'
import type { Hex } from '../format.ts'
import { useAction } from '../query.ts'
import { may } from '../store.ts'
import { ErrorText } from './action.tsx'

/** Registers dropped files, wherever on the page they are dropped; for one address where it is given. Absent where the caller may not. */
export function AbiDrop({ address }: { readonly address?: Hex }) {
  const [done, setDone] = useState('')
  const [isOver, setIsOver] = useState(false)
  const files = useRef<readonly File[]>([])
  const action = useAction(async () => {
    setDone('')
    const names: string[] = []
    for (const file of files.current) names.push(await registerFile(file, address))
    setDone(`Registered ${names.join(', ')}`)
  })
  const take = useRef((_: FileList | null | undefined) => {})
  take.current = (list) => {
    files.current = [...(list ?? [])]
    if (files.current.length > 0) action.run()
  }
  const isOpen = may('evm_setAbi')
  useEffect(() => {
    if (!isOpen) return
    const over = (event: DragEvent) => {
      event.preventDefault()
      setIsOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setIsOver(false)
    }
    const drop = (event: DragEvent) => {
      event.preventDefault()
      setIsOver(false)
      take.current(event.dataTransfer?.files)
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
    }
  }, [isOpen])
  if (!isOpen) return null
  return (
    <div class="drop" data-over={isOver}>
      <label class="field">
        <span>Drop an artifact or an ABI (JSON) on the page, or choose a file</span>
        <input
          type="file"
          accept=".json,application/json"
          multiple={address === undefined}
          onChange={(event) => {
            const input = event.currentTarget
            take.current(input.files)
            input.value = ''
          }}
        />
      </label>
      {done !== '' && <span class="good">{done}</span>}
      <ErrorText message={action.error} />
    </div>
  )
}
