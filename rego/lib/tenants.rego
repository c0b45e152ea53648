package schedlint.tenants

import data.schedlint.keys

# has reports whether a namespace belongs to a tenant.
has(tenant, namespace) if keys.listed(tenant.namespaces, namespace)

# owners are the names of the tenants that a pool belongs to.
owners(all, pool) := {tenant.name | some tenant in all; keys.listed(tenant.pools, pool)}

# foreign reports whether a pool belongs to tenants, and to none that the namespace, which
# has to be known, belongs to.
foreign(all, namespace, pool) if {
	keys.named(namespace)
	owning := owners(all, pool)
	count(owning) > 0
	count(owning & {tenant.name | some tenant in all; has(tenant, namespace)}) == 0
}
