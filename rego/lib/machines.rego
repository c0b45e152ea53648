package schedlint.machines

# path is where a field of a machine's instance stands, from the root of the object.
path("VirtualMachineInstance", field) := ["spec", field]

path("VirtualMachinePool", field) := ["spec", "virtualMachineTemplate", "spec", "template", "spec", field]

path(kind, field) := ["spec", "template", "spec", field] if not kind in {"VirtualMachineInstance", "VirtualMachinePool"}
