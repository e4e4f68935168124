/** Where files of ABIs are dropped or chosen. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { registerFile } from '../contracts.ts'
import type { Hex } from '../format.ts'
import { useAction } from '../query.ts'
import { may } from '../store.ts'
import { ErrorText } from './action.tsx'

/** Gives the files that are dropped anywhere on the page to `take`; returns whether some are held over it. */
function useDrop(isOpen: boolean, take: (files: FileList | null | undefined) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const current = useRef(take)
  current.current = take
  useEffect(() => {
    if (!isOpen) return
    const controller = new AbortController()
    const listen = { signal: controller.signal }
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
      current.current(event.dataTransfer?.files)
    }
    addEventListener('dragover', over, listen)
    addEventListener('dragleave', leave, listen)
    addEventListener('drop', drop, listen)
    return () => controller.abort()
  }, [isOpen])
  return isOver
}

/** Registers dropped files, wherever on the page they are dropped; for one address where it is given. Absent where the caller may not. */
export function AbiDrop({ address }: { readonly address?: Hex }) {
  const [done, setDone] = useState('')
  const files = useRef<readonly File[]>([])
  const action = useAction(async () => {
    setDone('')
    const names: string[] = []
    for (const file of files.current) names.push(await registerFile(file, address))
    setDone(`Registered ${names.join(', ')}`)
  })
  function take(list: FileList | null | undefined): void {
    files.current = [...(list ?? [])]
    if (files.current.length > 0) action.run()
  }
  const isOpen = may('evm_setAbi')
  const isOver = useDrop(isOpen, take)
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
            take(input.files)
            input.value = ''
          }}
        />
      </label>
      {done !== '' && <span class="good">{done}</span>}
      <ErrorText message={action.error} />
    </div>
  )
}
