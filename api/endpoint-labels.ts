// Labels of EndpointSlices, as in Kubernetes.

/** The Service that a slice is of, in the same namespace. */
export const serviceNameLabel = 'kubernetes.io/service-name';

/** Who writes a slice; those of others are left alone. */
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const sliceManager = 'troupe.dev';

/** Of a Service without an address. */
export const headlessLabel = 'service.kubernetes.io/headless';
