/** Settings of a node in a cluster. */
import { type Kind, natsUrls, oneOf, text, whole, word } from './kinds.ts'
import { setting } from './setting.ts'

/** Whether a node may lead. */
type RoleOption = 'auto' | 'leader' | 'follower'

/** Sizes in bytes. */
export const CLUSTER_SETTINGS = {
  cluster: setting(natsUrls, {
    flag: '--cluster <urls>',
    help: 'NATS servers with JetStream over which nodes share one chain, separated by commas',
    fallback: undefined,
    fallbackText: 'none: a node of its own',
    secret: true,
  }),
  clusterName: setting(word, {
    flag: '--cluster-name <name>',
    help: 'name of the cluster on those servers',
    fallback: 'tandem',
  }),
  role: setting(oneOf('auto', 'leader', 'follower') satisfies Kind<RoleOption, RoleOption>, {
    flag: '--role <role>',
    help: 'in the cluster: leader or auto leads when no other node does (leader waits for it at the start), follower never does',
    fallback: 'auto',
  }),
  clusterCreds: setting(text, {
    flag: '--cluster-creds <file>',
    help: 'NATS credentials: a file with a JWT and the seed of its key',
    fallback: undefined,
    fallbackText: 'none',
  }),
  clusterCa: setting(text, {
    flag: '--cluster-ca <file>',
    help: 'certificate authority (PEM) of the NATS servers, whose URLs begin with tls://',
    fallback: undefined,
    fallbackText: "the system's",
  }),
  clusterReplicas: setting(whole(1, 5), {
    flag: '--cluster-replicas <count>',
    help: 'copies that the NATS servers keep of a new cluster: 1, or 3 on three servers',
    fallback: 1,
  }),
  clusterLogBytes: setting(whole(1_048_576, Number.MAX_SAFE_INTEGER), {
    flag: '--cluster-log-size <bytes>',
    help: 'room for the log of a new cluster; a snapshot replaces its older part',
    fallback: 1_073_741_824,
  }),
  maxLag: setting(whole(1, 86_400), {
    flag: '--max-lag <seconds>',
    help: 'lag behind the leader of the cluster beyond which /readyz answers 503',
    fallback: 10,
  }),
}
