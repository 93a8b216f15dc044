// The kind PersistentVolume: storage that there is.

import {ageColumn, column, nameColumn, wideColumn} from '../columns/common.js';
import {modesText, storageText} from '../columns/storage.js';
import type {KindDefinition} from '../kind.js';
import {hostnameLabel, localProvisioner, provisionedBy} from '../local-storage.js';
import type {ApiObject, Draft} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {forbid, isEmpty, membersOf, refuse, requireOne, textOf, type Found} from '../rules/report.js';
import {checkAccessModes, checkStorage} from '../rules/storage.js';
import {checkAbsolute, checkHostPath, checkNfs} from '../rules/volume.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/persistentvolume.js';

export type PersistentVolumeSpec = ShapeOf<typeof spec>;
export type PersistentVolumeStatus = ShapeOf<typeof status>;
export type PersistentVolume = ApiObject<PersistentVolumeSpec, PersistentVolumeStatus>;

const asVolume = (object: ApiObject): PersistentVolume => object as PersistentVolume;

/** Whether it is of class `local` and made for its claim: its folder is the agent's to make and to remove. */
export const isProvisioned = ({metadata, spec}: PersistentVolume): boolean =>
	metadata.annotations?.[provisionedBy] === localProvisioner && spec?.local !== undefined;

/** The one node that a volume's affinity names by its hostname; undefined: it names none, or several. */
export function nodeOfVolume({spec}: PersistentVolume): string | undefined {
	const terms = spec?.nodeAffinity?.required.nodeSelectorTerms ?? [];
	const [requirement, ...others] = terms.length === 1 ? (terms[0]?.matchExpressions ?? []) : [];
	const isName = requirement !== undefined && others.length === 0 && requirement.key === hostnameLabel && requirement.operator === 'In';
	return isName && requirement.values?.length === 1 ? requirement.values[0] : undefined;
}

const phaseOf = ({metadata, status}: PersistentVolume): string =>
	metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';

const claimText = ({spec}: PersistentVolume): string =>
	spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace}/${spec.claimRef.name}`;

export const persistentVolume: KindDefinition = {
	kind: 'PersistentVolume',
	group: '',
	version: 'v1',
	plural: 'persistentvolumes',
	singular: 'persistentvolume',
	shortNames: ['pv'],
	namespaced: false,
	defaults: draft => ({
		...draft,
		spec: {persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...membersOf(draft.spec)},
	}),
	validate,
	initialStatus: (): PersistentVolumeStatus => ({phase: 'Pending'}),
	columns: [
		nameColumn,
		column('Capacity', 'How large it is.', object => storageText(asVolume(object).spec?.capacity)),
		column('Access Modes', 'Who may use it at once.', object => modesText(asVolume(object).spec?.accessModes)),
		column(
			'Reclaim Policy',
			'What becomes of it when its claim is gone.',
			object => asVolume(object).spec?.persistentVolumeReclaimPolicy ?? '',
		),
		column('Status', 'Pending, Available, Bound, Released or Failed.', object => phaseOf(asVolume(object))),
		column('Claim', 'The claim that has it.', object => claimText(asVolume(object))),
		column('StorageClass', 'Claims of this class may get it.', object => asVolume(object).spec?.storageClassName ?? ''),
		column('VolumeAttributesClass', 'Not used.', () => '<unset>'),
		column('Reason', 'Why it is as it is.', object => asVolume(object).status?.reason ?? ''),
		column('Used', 'What it takes of the disk, as counted last.', object => storageText(asVolume(object).status?.used)),
		ageColumn,
		wideColumn('VolumeMode', 'Filesystem.', object => asVolume(object).spec?.volumeMode ?? 'Filesystem'),
	],
};

const sources = ['local', 'hostPath', 'nfs'] as const;

const others = [
	'capacity',
	'accessModes',
	'persistentVolumeReclaimPolicy',
	'storageClassName',
	'volumeMode',
	'claimRef',
	'nodeAffinity',
] as const;

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	requireOne(found, 'spec', spec, sources, others);
	checkAccessModes(found, 'spec.accessModes', spec['accessModes']);
	checkStorage(found, 'spec.capacity', spec['capacity'], true);
	const {path} = membersOf(spec['local']);
	if (typeof path === 'string') checkAbsolute(found, 'spec.local.path', path);
	checkHostPath(found, 'spec.hostPath', membersOf(spec['hostPath']));
	checkNfs(found, 'spec.nfs', membersOf(spec['nfs']));
	checkReclaim(found, draft);
	if (!isEmpty(spec['local']) && nodeOfVolume({...draft, spec} as unknown as PersistentVolume) === undefined)
		refuse(
			found,
			'spec.nodeAffinity',
			`must name the node of a local volume: one required term, with ${hostnameLabel} In one name`,
			'FieldValueRequired',
		);
	if (old === undefined) return;
	const before = membersOf(old.spec);
	for (const field of [...sources, 'nodeAffinity', 'volumeMode'] as const)
		checkUnchanged(found, `spec.${field}`, spec[field], before[field]);
}

/** What nobody would remove must not look as if it went. */
function checkReclaim(found: Found, draft: Draft): void {
	const {annotations} = membersOf(draft.metadata);
	const isOwn = textOf(membersOf(annotations)[provisionedBy]) === localProvisioner;
	if (membersOf(draft.spec)['persistentVolumeReclaimPolicy'] === 'Delete' && !isOwn)
		forbid(found, 'spec.persistentVolumeReclaimPolicy', 'must be Retain: only what was made for a claim of class local is removed with it');
}
