// The kind PersistentVolumeClaim: storage that outlives the pods that use it.

import {ageColumn, column, nameColumn, wideColumn} from '../columns/common.js';
import {modesText, storageText} from '../columns/storage.js';
import type {KindDefinition} from '../kind.js';
import {localClass} from '../local-storage.js';
import type {ApiObject, Draft} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {membersOf, type Found} from '../rules/report.js';
import {checkClaimSpec} from '../rules/storage.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/persistentvolumeclaim.js';

export type PersistentVolumeClaimSpec = ShapeOf<typeof spec>;
export type PersistentVolumeClaimStatus = ShapeOf<typeof status>;
export type PersistentVolumeClaim = ApiObject<PersistentVolumeClaimSpec, PersistentVolumeClaimStatus>;

const asClaim = (object: ApiObject): PersistentVolumeClaim => object as PersistentVolumeClaim;

const phaseOf = ({metadata, status}: PersistentVolumeClaim): string =>
	metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';

export const persistentVolumeClaim: KindDefinition = {
	kind: 'PersistentVolumeClaim',
	group: '',
	version: 'v1',
	plural: 'persistentvolumeclaims',
	singular: 'persistentvolumeclaim',
	shortNames: ['pvc'],
	namespaced: true,
	defaults,
	validate,
	initialStatus: (): PersistentVolumeClaimStatus => ({phase: 'Pending'}),
	columns: [
		nameColumn,
		column('Status', 'Pending, Bound or Lost.', object => phaseOf(asClaim(object))),
		column('Volume', 'The volume it is bound to.', object => asClaim(object).spec?.volumeName ?? ''),
		column('Capacity', 'How large that is.', object => storageText(asClaim(object).status?.capacity)),
		column('Access Modes', 'Who may use it at once.', object => modesText(asClaim(object).status?.accessModes)),
		column('StorageClass', 'Where its volume comes from.', object => asClaim(object).spec?.storageClassName ?? ''),
		column('VolumeAttributesClass', 'Not used.', () => '<unset>'),
		column('Used', 'What its volume takes of the disk, as counted last.', object => storageText(asClaim(object).status?.used)),
		ageColumn,
		wideColumn('VolumeMode', 'Filesystem.', object => asClaim(object).spec?.volumeMode ?? 'Filesystem'),
	],
	selectableFields: {'spec.volumeName': object => asClaim(object).spec?.volumeName ?? ''},
};

/** A manifest that is written again does not say what the claim was bound to. */
function defaults(draft: Draft, old?: ApiObject): Draft {
	const spec = membersOf(draft.spec);
	const bound = old === undefined ? undefined : asClaim(old).spec?.volumeName;
	return {
		...draft,
		spec: {
			storageClassName: localClass,
			volumeMode: 'Filesystem',
			...(bound === undefined ? {} : {volumeName: bound}),
			...spec,
		},
	};
}

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	if (old !== undefined) {
		checkUnchanged(found, 'spec', {...spec, volumeName: undefined}, {...membersOf(old.spec), volumeName: undefined});
		const before = asClaim(old).spec?.volumeName;
		if (before !== undefined) checkUnchanged(found, 'spec.volumeName', spec['volumeName'], before);
	}
	checkClaimSpec(found, 'spec', spec);
}
