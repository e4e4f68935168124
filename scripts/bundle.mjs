/** Bundles the command and the explorer by `rolldown.config.ts`, without the bundler's own table of chunks before every start. */
import { build } from 'rolldown'
import { loadConfig } from 'rolldown/config'

await build(await loadConfig('rolldown.config.ts'))
