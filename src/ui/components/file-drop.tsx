/** Where build-infos, artifacts and ABIs are dropped or chosen. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { readFile, registerArtifact } from '../contracts.ts'
import type { Hex } from '../format.ts'
import { useAction } from '../query.ts'
import { addBuildInfos, isBuildInfo } from '../sources.ts'
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

/** What is made of files: sources of build-infos, and ABIs of artifacts; in words. Throws an Error in words. */
async function registered(files: readonly File[], address: Hex | undefined): Promise<string> {
  const read = await Promise.all(files.map(readFile))
  const buildInfos = read.flatMap(({ json }) => (isBuildInfo(json) ? [json] : []))
  const done: string[] = []
  if (buildInfos.length > 0) done.push(await addBuildInfos(buildInfos, address))
  for (const { file, json } of read) {
    if (!isBuildInfo(json)) done.push(await registerArtifact(file, json, address))
  }
  return done.join(', ')
}

/** Registers dropped files, wherever on the page they are dropped; for one address where it is given. Absent where the caller may not. */
export function FileDrop({ address }: { readonly address?: Hex }) {
  const [done, setDone] = useState('')
  const files = useRef<readonly File[]>([])
  const action = useAction(async () => {
    setDone('')
    setDone(`Registered ${await registered(files.current, address)}`)
  })
  function take(list: FileList | null | undefined): void {
    files.current = [...(list ?? [])]
    if (files.current.length > 0) action.run()
  }
  const [hasAbis, hasSources] = [may('evm_setAbi'), may('evm_addSources')]
  const isOpen = hasAbis || hasSources
  const isOver = useDrop(isOpen, take)
  if (!isOpen) return null
  const what = [hasSources && 'a build-info', hasAbis && 'an artifact or an ABI'].filter(Boolean).join(', ')
  return (
    <div class="drop" data-over={isOver}>
      <label class="field">
        <span>Drop {what} (JSON) on the page, or choose files</span>
        <input
          type="file"
          accept=".json,application/json"
          multiple
          onChange={(event) => {
            const input = event.currentTarget
            take(input.files)
            input.value = ''
          }}
        />
      </label>
      {action.isRunning && <span class="dim">Reading…</span>}
      {done !== '' && (
        <span class="good" aria-live="polite">
          {done}
        </span>
      )}
      <ErrorText message={action.error} />
    </div>
  )
}
