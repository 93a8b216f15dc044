// What belongs to a cluster's home, so that `uninstall` never takes away anything else. Pure.

/** Files and folders that Troupe makes in its home; rotated logs and half-written files (`.kubeconfig.1f…`) included. */
const own =
	/^(data|repl-history|audit(-refused)?\.log(\.\d+)?|kubeconfig|admin\.token|ca\.crt|endpoints\.json|troupe\.log(\.\d+)?|\.(kubeconfig|admin\.token|ca\.crt|endpoints\.json)\.[0-9a-f]+)$/;

/** What may be in `data/`. A folder named `data` with anything else in it is data of the user's own. */
const ownData =
	/^(control(-(damaged|salvage)-\w+)?|node(-damaged)?|runtime|docker|docker-engine|network|secrets|artifacts|runs|volumes|\.?(cluster\.key|node\.key|server-certificate|cache-place|credential|lineage|gpus\.json)(\.[0-9a-f]+)?)$/;

export const ownEntries = (entries: readonly string[]): readonly string[] => entries.filter(entry => own.test(entry));
export const foreignEntries = (entries: readonly string[]): readonly string[] => entries.filter(entry => !own.test(entry));

/**
 * Whether a folder with these entries is the home of a cluster: a file of ours says so, and its data, if any, is ours. A home into which
 * a backup was restored has nothing but data with the cluster's key.
 */
export const looksLikeHome = (entries: readonly string[], dataEntries: readonly string[]): boolean =>
	(['admin.token', 'kubeconfig', 'troupe.log'].some(name => entries.includes(name)) || dataEntries.includes('cluster.key')) &&
	dataEntries.every(entry => ownData.test(entry));
