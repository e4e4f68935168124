/** API keys in the paths of pages. */
import { documentPath } from './document-pages.ts'
import { assetPath } from './explorer.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'

/** The client whose key is the last segment of a path, or the one before the page: `/<key>`, `/<key>/<page>`, `/<key>/ui/<file>` and `/<key>/docs/<file>`. */
export function clientAt(
  path: string,
  authentication: Authentication,
): { readonly client: ApiKeyClient | undefined; readonly page: string } {
  const asset = assetPath(path) ?? documentPath(path)
  if (asset !== undefined) return { client: authentication.authenticate(asset.before), page: asset.page }
  const end = path.lastIndexOf('/')
  const [own, parent] = [authentication.authenticate(path), authentication.authenticate(path.slice(0, end))]
  return own === undefined ? { client: parent, page: path.slice(end) } : { client: own, page: '/' }
}
