// From a manifest's volumes to what the runtime makes, or to what the pod waits for. Pure.
//
// What is in a ConfigMap comes from the node's cache; of a Secret no more than its name is known here.

import type {KeyToPath, PodSpec, Volume} from '../../../api/kinds/pod.js';
import {memoryBytes} from '../../../api/quantity.js';
import type {Known} from '../../../system/index/object-index.js';
import {claimKey, configMapKey, secretKey, volumeConfigKeysOf} from '../../config-references.js';
import {nfsSource, type Assignment} from '../../protocol/sync-message.js';
import {cachedConfig} from '../cache/config-copy.js';
import type {VolumeFile, VolumeSource, VolumeSpec} from '../runtime/runtime-port.js';

export type VolumesOutcome =
	| {readonly ok: true; readonly value: readonly VolumeSpec[]}
	/** What is named and not there. */
	| {readonly ok: false; readonly problem: string};

type VolumeContext = {readonly namespace: string; readonly known: Known};
type SourceOutcome = {readonly ok: true; readonly source: VolumeSource} | {readonly ok: false; readonly problem: string};

/** Kubernetes' default. */
const usualMode = 0o644;

/** All volumes of the pod, or the first thing that is missing. */
export function volumesOf({namespace, spec}: Assignment, known: Known): VolumesOutcome {
	const specs: VolumeSpec[] = [];
	for (const volume of spec.volumes ?? []) {
		const made = sourceOf(volume, {namespace, known});
		if (!made.ok) return made;
		specs.push({name: volume.name, source: made.source});
	}
	return {ok: true, value: specs};
}

/** Changes when what is in a volume does. */
export const contentVersion = ({namespace, spec}: Assignment, known: Known): string =>
	volumeConfigKeysOf(spec, namespace)
		.map(key => cachedConfig(known, key)?.version ?? '-')
		.join(' ');

export const hasVolumes = ({volumes = []}: PodSpec): boolean => volumes.length > 0;

function sourceOf({hostPath, emptyDir, configMap, secret, nfs, persistentVolumeClaim}: Volume, around: VolumeContext): SourceOutcome {
	if (persistentVolumeClaim !== undefined) return claimSource(persistentVolumeClaim.claimName, around);
	if (hostPath !== undefined) return {ok: true, source: {type: 'hostPath', path: hostPath.path, check: hostPath.type ?? ''}};
	if (nfs !== undefined) return {ok: true, source: nfsSource(nfs)};
	if (configMap !== undefined) return configMapSource(configMap, around);
	if (secret !== undefined) return secretSource(secret, around);
	const sizeLimit = emptyDir?.sizeLimit;
	return {
		ok: true,
		source: {
			type: 'emptyDir',
			inMemory: emptyDir?.medium === 'Memory',
			sizeLimitBytes: sizeLimit === undefined ? undefined : memoryBytes(sizeLimit),
		},
	};
}

// ---- claim -----------------------------------------------------------------------------------------------------------------

/** Before it has a volume, a claim is to the node as if it were not there. */
function claimSource(name: string, {namespace, known}: VolumeContext): SourceOutcome {
	const named = cachedConfig(known, claimKey(namespace, name))?.named;
	if (named?.type !== 'claim') return {ok: false, problem: `persistentvolumeclaim "${name}" not found, or not bound yet`};
	return named.source.type === 'elsewhere' ? {ok: false, problem: named.source.why} : {ok: true, source: named.source};
}

// ---- configMap -------------------------------------------------------------------------------------------------------------

type Files = {readonly [key: string]: string};

function configMapSource(
	{name, items, defaultMode = usualMode, optional = false}: NonNullable<Volume['configMap']>,
	{namespace, known}: VolumeContext,
): SourceOutcome {
	const named = cachedConfig(known, configMapKey(namespace, name))?.named;
	if (named?.type !== 'configMap') return optional ? noFiles : {ok: false, problem: `configmap "${name}" not found`};
	const data: Files = {...encoded(named.data ?? {}), ...named.binaryData};
	const missing = items?.find(({key}) => !Object.hasOwn(data, key));
	if (missing !== undefined && !optional) return {ok: false, problem: `couldn't find key ${missing.key} in ConfigMap ${namespace}/${name}`};
	const chosen = items ?? Object.keys(data).map((key): KeyToPath => ({key, path: key}));
	const files = chosen.flatMap(({key, path, mode = defaultMode}) => {
		const content = Object.hasOwn(data, key) ? data[key] : undefined;
		return content === undefined ? [] : [{path, mode, data: content}];
	});
	return {ok: true, source: {type: 'files', files}};
}

const noFiles: SourceOutcome = {ok: true, source: {type: 'files', files: []}};

const encoded = (texts: Files): Files =>
	Object.fromEntries(Object.entries(texts).map(([key, text]): [string, string] => [key, Buffer.from(text).toString('base64')]));

// ---- secret ----------------------------------------------------------------------------------------------------------------

function secretSource(
	{secretName, items, defaultMode = usualMode, optional = false}: NonNullable<Volume['secret']>,
	{namespace, known}: VolumeContext,
): SourceOutcome {
	const copy = cachedConfig(known, secretKey(namespace, secretName));
	if (copy === undefined) return optional ? noFiles : {ok: false, problem: `secret "${secretName}" not found`};
	const chosen = items?.map(({key, path, mode = defaultMode}): VolumeFile & {readonly key: string} => ({key, path, mode}));
	const ref = {secret: secretName, version: copy.version, optional};
	return {ok: true, source: {type: 'secret', ref, items: chosen, mode: defaultMode}};
}
