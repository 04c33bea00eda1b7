"""Your model, your DataLoader, your optimiser, and Group DRO from evenhand: a loss and its state."""

import torch
from torch.utils.data import DataLoader, TensorDataset

import evenhand
from evenhand.methods import Batch, GroupDRO, Nets, Problem

torch.manual_seed(0)
task = evenhand.load("adult", seed=0)  # tensors of your own would do as well
train, test, groups = task.rows("train")[:8000], task.rows("test"), task.groups("sex")
g = torch.as_tensor(groups.ids)

model = torch.nn.Sequential(torch.nn.Linear(108, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(task.x[train], task.y[train], g[train]), batch_size=256, shuffle=True)

method = GroupDRO(eta=0.1)
problem = Problem.from_labels(task.y[train], g[train])
state = method.init(problem)
for _ in range(5):
    for inputs, labels, ids in loader:
        out = method.loss(Nets.of(model, problem.sizes), Batch(inputs, labels, ids), state)
        optimizer.zero_grad()
        out.losses["model"].backward()
        optimizer.step()
        state = out.state

predicted = model(task.x[test]).argmax(1)
gap = evenhand.audit(task.y[test], predicted, groups.keep(test.numpy())).metrics["tpr.gap"]
print(f"gap of the true positive rate {gap.value:.3f} between {' and '.join(gap.decided_by)}")
