// The class of volumes that are folders of nodes, and the words by which claims and volumes are joined: Kubernetes' own.

/** The class of claims that name none. Its volumes are folders on the node of their first pod. */
export const localClass = 'local';

/** Who makes volumes of the class. */
export const localProvisioner = 'troupe.dev/local';

/** Of a volume: who made it. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/** Of a claim: the node of its first pod, where its volume is made. */
export const selectedNode = 'volume.kubernetes.io/selected-node';

/** Holds a claim until its last pod is gone. */
export const claimProtection = 'kubernetes.io/pvc-protection';

/** Holds a volume while it is bound. */
export const volumeProtection = 'kubernetes.io/pv-protection';

/** Holds a volume of the class until its folder is removed. */
export const folderFinalizer = 'troupe.dev/local-folder';

/** Of a claim: its volume takes more of the disk than it is large. Nothing enforces sizes. */
export const storageExceeded = 'StorageExceeded';

/** The label by which Kubernetes' local volumes name their node; here always the name of the node. */
export const hostnameLabel = 'kubernetes.io/hostname';
