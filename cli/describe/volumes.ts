// Volumes of a pod, and where its containers see them. Pure.

import type {Container, KeyToPath, Volume} from '../../api/kinds/pod.js';
import {drawFields} from './lines.js';

/** `/etc/app from config (ro, path=app.conf)` */
export const mountLines = ({volumeMounts}: Container, volumes: readonly Volume[]): readonly string[] | undefined =>
	volumeMounts?.map(({name, mountPath, readOnly = false, subPath}) => {
		const isFixed = readOnly || volumes.some(volume => volume.name === name && isReadOnly(volume));
		const how = [isFixed ? 'ro' : 'rw', ...(subPath === undefined || subPath === '' ? [] : [`path=${subPath}`])];
		return `${mountPath} from ${name} (${how.join(', ')})`;
	});

/** Whatever the mount says. */
const isReadOnly = ({configMap, secret, nfs, persistentVolumeClaim}: Volume): boolean =>
	configMap !== undefined || secret !== undefined || nfs?.readOnly === true || persistentVolumeClaim?.readOnly === true;

/** Nothing where there are none. */
export const drawVolumes = (volumes: readonly Volume[]): string =>
	volumes.length === 0
		? ''
		: `Volumes:\n${drawFields(
				volumes.map(volume => [volume.name, sourceText(volume)]),
				'  ',
			)}`;

function sourceText({hostPath, emptyDir, configMap, secret, nfs, persistentVolumeClaim}: Volume): string {
	if (nfs !== undefined) return `NFS ${nfs.server}:${nfs.path}${nfs.readOnly === true ? ' (ro)' : ''}`;
	if (hostPath !== undefined)
		return `hostPath ${hostPath.path}${hostPath.type === undefined || hostPath.type === '' ? '' : ` (${hostPath.type})`}`;
	if (configMap !== undefined) return `ConfigMap ${configMap.name}${chosenText(configMap)}`;
	if (secret !== undefined) return `Secret ${secret.secretName}${chosenText(secret)}`;
	if (persistentVolumeClaim !== undefined)
		return `PersistentVolumeClaim ${persistentVolumeClaim.claimName}${persistentVolumeClaim.readOnly === true ? ' (ro)' : ''}`;
	const {medium, sizeLimit} = emptyDir ?? {};
	return `emptyDir${medium === 'Memory' ? ' in memory' : ''}${sizeLimit === undefined ? '' : `, at most ${sizeLimit}`}`;
}

type Chosen = {readonly items?: readonly KeyToPath[]; readonly optional?: boolean};

function chosenText({items, optional = false}: Chosen): string {
	const chosen = items === undefined ? '' : `: ${items.map(({key, path}) => `${key} as ${path}`).join(', ')}`;
	return `${optional ? ' (optional)' : ''}${chosen}`;
}
